#!/usr/bin/env bash
# `npm run test:all`: `npm test`, then the suites that need engines, torch or another major version of Node.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "Engines and kernels are installed into ${XDG_CACHE_HOME:-$HOME/.cache}/reprise once (13 GB). All of it takes about an hour on two cores."
setsid bash e2e/install-ahead.sh &
trap 'kill -- "-$!" 2>/dev/null || true' EXIT
bash e2e/run-suites.sh test test:commands test:long test:wheels test:plugins test:kernels test:engines test:chart test:node24
