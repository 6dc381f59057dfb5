#!/usr/bin/env bash
# Runs tests on another major version of Node, which is installed as an npm package outside the checkout: by default
# those of the built product over real sockets.
# usage: test-on-node.sh MAJOR [OPTIONS OF VITEST]
set -euo pipefail
line=$1
shift
if [ $# -eq 0 ]; then set -- --project sockets --project commands; fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/node-$line"
if [ ! -x "$cache/node_modules/node/bin/node" ]; then
  echo "Installing Node $line into $cache"
  npm install --no-save --no-package-lock --prefix "$cache" "node@$line"
fi
export PATH="$cache/node_modules/node/bin:$PATH"
echo "Testing on Node $(node --version)"
exec node node_modules/vitest/vitest.mjs run "$@"
