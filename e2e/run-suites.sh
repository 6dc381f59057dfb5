#!/usr/bin/env bash
# Runs npm scripts one after another, the later ones too where one fails, and sums up: which failed, how long each took, and
# what was skipped. A suite says what it skips in lines that begin with SKIPPED.
# usage: run-suites.sh SUITE…
set -uo pipefail

logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
# the pipe to tee is no terminal
if [ -t 1 ]; then export FORCE_COLOR=1; fi
summary=()
failed=()
skipped=()
for suite in "$@"; do
  began=$SECONDS
  if npm run --silent "$suite" 2>&1 | tee "$logs/$suite"; then outcome=passed; else
    outcome=FAILED
    failed+=("$suite")
  fi
  mapfile -t lines < <(grep -a '^SKIPPED' "$logs/$suite")
  skipped+=("${lines[@]/#/$suite: }")
  summary+=("$(printf '  %-14s %-6s %5d s  %d skipped' "$suite" "$outcome" "$((SECONDS - began))" "${#lines[@]}")")
done

printf '%s\n' '' "suites:" "${summary[@]}"
for line in "${skipped[@]}"; do echo "  $line"; done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
