#!/usr/bin/env bash
# makes an environment in which SGLang runs on a CPU, and a small model for it; both are kept outside the checkout.
# Prints the environment's python as its last line. Runs again only what has changed.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
checkout="$(cd "$here/../../../../.." && pwd)"
version=0.5.23
uv_version=0.13.8
# the wheel's own requirements are ranges: without a date, a new release of one of them could break the set-up
resolved_on=2026-11-21
needed_gb=9
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/sglang-$version"
python="$cache/venv/bin/python"
make_model="$checkout/engine-adapters/vllm/test-model/make_test_model.py"
mkdir -p "$cache"

say() { echo "SGLang $version: $*" >&2; }

exec 9>"$cache/lock"
flock -n 9 || {
  say "waiting for another run that installs the same"
  flock 9
}

# is_done STEP PRODUCT INPUT…: whether the product is there and was made from just these inputs
is_done() {
  local step=$1 product=$2
  shift 2
  [ -e "$product" ] && [ "$(cat "$cache/$step.done" 2>/dev/null)" = "$(cat "$@" | sha256sum)" ]
}

finish() {
  local step=$1
  shift
  cat "$@" | sha256sum >"$cache/$step.done"
}

check_disk() {
  local free_gb
  free_gb=$(df --output=avail -B1G "$cache" | tail -1 | tr -d ' ')
  if [ "$free_gb" -lt "$needed_gb" ]; then
    say "$cache has $free_gb GB free and the set-up needs $needed_gb: free some, or set XDG_CACHE_HOME"
    exit 1
  fi
}

install_packages() {
  check_disk
  local uv
  uv="$(command -v uv || true)"
  if [ -z "$uv" ]; then
    say "installing uv $uv_version"
    uv="$cache/uv/bin/uv"
    [ -x "$uv" ] || python3 -m pip install --quiet --target "$cache/uv" "uv==$uv_version" >&2
  fi
  say "installing it for the CPU (about 7 GB, a minute or more)"
  # the Rust core is built for one Python a wheel; 3.11 is the one it was tried with
  [ -x "$python" ] || "$uv" venv --quiet --python 3.11 "$cache/venv" >&2
  "$uv" pip install --python "$python" --exclude-newer "$resolved_on" \
    --override "$here/overrides.txt" -r "$here/requirements.txt" >&2
}

packages=("$here/requirements.txt" "$here/overrides.txt" "$0")
if ! is_done packages "$python" "${packages[@]}"; then
  install_packages
  finish packages "${packages[@]}"
fi

if ! is_done model "$cache/test-model/model.safetensors" "$make_model"; then
  say "making a small model (half a minute)"
  HF_HUB_OFFLINE=1 "$python" "$make_model" "$cache/test-model" >&2
  finish model "$make_model"
fi
echo "$python"
