#!/usr/bin/env bash
# makes the environment of the kernels' tests, outside the checkout; prints its python as the last line.
# Runs again only when what it installs has changed.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
uv_version=0.13.8
# of torch's own requirements some are ranges: without a date, a new release of one could break the set-up
resolved_on=2026-11-21
needed_gb=7
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/kernels-torch-2.11.0"
python="$cache/venv/bin/python"
mkdir -p "$cache"

say() { echo "kernels: $*" >&2; }

exec 9>"$cache/lock"
flock -n 9 || {
  say "waiting for another run that installs the same"
  flock 9
}

inputs() { cat "$here/requirements.txt" "$here/setup.sh" | sha256sum; }

check_disk() {
  local free_gb
  free_gb=$(df --output=avail -B1G "$cache" | tail -1 | tr -d ' ')
  if [ "$free_gb" -lt "$needed_gb" ]; then
    say "$cache has $free_gb GB free and the set-up needs $needed_gb: free some, or set XDG_CACHE_HOME"
    exit 1
  fi
}

# Debian's libraries that Mooncake's client links to
if ! ldconfig -p | grep -q librdmacm.so.1 && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  say "installing libibverbs1 and librdmacm1"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends libibverbs1 librdmacm1; } >/dev/null ||
    say "apt-get could not install them: tests of Mooncake are skipped"
fi

if [ ! -x "$python" ] || [ "$(cat "$cache/packages.done" 2>/dev/null)" != "$(inputs)" ]; then
  check_disk
  uv="$(command -v uv || true)"
  if [ -z "$uv" ]; then
    uv="$cache/uv/bin/uv"
    if [ ! -x "$uv" ]; then
      say "installing uv $uv_version"
      python3 -m pip install --quiet --target "$cache/uv" "uv==$uv_version" >&2
    fi
  fi
  say "installing torch and triton (about 5 GB, half a minute or more)"
  rm -rf "$cache/packages.done" "$cache/venv"
  "$uv" venv --quiet --python '>=3.11,<3.14' "$cache/venv" >&2
  "$uv" pip install --python "$python" --exclude-newer "$resolved_on" -r "$here/requirements.txt" >&2
  inputs >"$cache/packages.done"
fi
echo "$python"
