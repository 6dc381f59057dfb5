#!/usr/bin/env bash
# runs npm scripts one after another, the later ones too where one fails; says at the end which failed
set -uo pipefail

failed=()
for suite in "$@"; do
  npm run --silent "$suite" || failed+=("$suite")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
