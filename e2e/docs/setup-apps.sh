#!/usr/bin/env bash
# makes an environment with the frameworks of docs/apps.md (265 MB) once, outside the checkout; prints its python
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
uv_version=0.13.8
# cut-off date, because some of the frameworks' own requirements are ranges
resolved_on=2026-11-21
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/apps"
python="$cache/venv/bin/python"
wanted="$(cat "$here/apps-requirements.txt" "$0" | sha256sum)"
if [ ! -x "$python" ] || [ "$(cat "$cache/packages.done" 2>/dev/null)" != "$wanted" ]; then
  mkdir -p "$cache"
  uv="$(command -v uv || echo "$cache/uv/bin/uv")"
  [ -x "$uv" ] || python3 -m pip install --quiet --target "$cache/uv" "uv==$uv_version" >&2
  rm -rf "$cache/venv"
  "$uv" venv --quiet --python '>=3.10,<3.14' "$cache/venv" >&2
  "$uv" pip install --quiet --python "$python" --exclude-newer "$resolved_on" -r "$here/apps-requirements.txt" >&2
  echo "$wanted" >"$cache/packages.done"
fi
echo "$python"
