#!/usr/bin/env bash
# `npm run test:wheels`: builds the plugins' wheels, installs them as an init container does, and checks that their
# entry points are found and nothing is downloaded.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null; then
  echo "SKIPPED test:wheels: there is no python3; install Python 3.10 or newer"
  exit 0
fi
python="$(bash e2e/setup-python.sh)"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

for build in one two; do PYTHON="$python" SOURCE_DATE_EPOCH=1700000000 packaging/wheels.sh "$folder/$build"; done
diff <(cd "$folder/one" && sha256sum -- *) <(cd "$folder/two" && sha256sum -- *)

"$python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check --find-links="$folder/one" \
  --target="$folder/installed" reprise-vllm reprise-sglang reprise-kernels
PYTHONPATH="$folder/installed" "$python" - <<'PY'
from importlib.metadata import entry_points
from importlib.util import find_spec

import reprise_callbacks  # needs nothing else
import reprise_hotness.tracker  # nor does it
import reprise_settings

for group, module in [("vllm.general_plugins", "reprise_vllm"), ("sglang.srt.plugins", "reprise_sglang")]:
    (found,) = entry_points(group=group, name="reprise")
    assert found.value == f"{module}:register", found
for module in ["reprise_vllm.connector", "reprise_vllm.reuse", "reprise_sglang", "reprise_reuse", "reprise_kernels"]:
    assert find_spec(module), module
print("wheels: reprise-vllm, reprise-sglang and reprise-kernels are the same twice, and are found where they are installed")
PY
