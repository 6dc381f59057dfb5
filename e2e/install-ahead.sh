#!/usr/bin/env bash
# Installs what the later suites of `npm run test:all` need while the earlier ones run. Each suite waits for its own part
# and installs it again if that failed, so nothing needs to be said here.
cd "$(dirname "$0")/.."
for folder in engine-adapters/sglang/plugin/tests/engine kernels/tests e2e/chart/tools; do
  nice -n 19 bash "$folder/setup.sh" >/dev/null 2>&1
done
