#!/usr/bin/env bash
# `npm run test:python`: lints all Python and the Dockerfile, and runs the Python tests that need no engine.
set -euo pipefail
cd "$(dirname "$0")/.."
projects=(engine-adapters/python engine-adapters/vllm/plugin engine-adapters/sglang/plugin kernels lab/kernels lab/plugins)

if ! command -v python3 >/dev/null; then
  echo "SKIPPED test:python: there is no python3; install Python 3.10 or newer"
  exit 0
fi
python="$(bash e2e/setup-python.sh)"

export PYTHONDONTWRITEBYTECODE=1 RUFF_NO_CACHE=true
failed=0
for project in "${projects[@]}"; do
  "$python" -m ruff check --quiet "$project" || failed=1
  "$python" -m ruff format --quiet --check "$project" || failed=1
done
"$python" -m pytest -q -rs -p no:cacheprovider engine-adapters/python || failed=1
"$(dirname "$python")/hadolint" Dockerfile || failed=1
exit $failed
