#!/usr/bin/env bash
# installs the programs that some tests start, if possible; tests whose program is missing are skipped by name
set -euo pipefail

# program:Debian package; the tests start their own Redis servers, while Debian's package may start one on port 6379
needed=(chromium:chromium redis-server:redis-server redis-cli:redis-tools g++:g++)

missing=()
for entry in "${needed[@]}"; do
  command -v "${entry%%:*}" >/dev/null || missing+=("${entry##*:}")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "SKIPPED tests that need ${missing[*]}: install ${missing[*]}, or run as root where there is apt-get." >&2
  exit 0
fi
echo "Installing for the tests: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >/dev/null; then
  echo "SKIPPED tests that need ${missing[*]}: apt-get could not install them." >&2
fi
