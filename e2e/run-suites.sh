#!/usr/bin/env bash
# Runs npm scripts one after another, even if one fails. Then summarises which failed, how long each took, what was
# skipped and which tests failed. A suite reports skipped tests in lines that begin with SKIPPED, and failed tests in
# lines that begin with FAIL or FAILED.
# usage: run-suites.sh SUITE…
set -uo pipefail

logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT
# suites write to a pipe (tee), so they would not use colours
if [ -t 1 ]; then export FORCE_COLOR=1; fi
summary=()
failed=()
skipped=()
broken=()
for suite in "$@"; do
  began=$SECONDS
  if npm run --silent "$suite" 2>&1 | tee "$logs/$suite"; then outcome=passed; else
    outcome=FAILED
    failed+=("$suite")
    # failures reported by vitest and pytest, without colour codes
    mapfile -t lines < <(sed 's/\x1b\[[0-9;]*m//g' "$logs/$suite" | grep -aE '^ *(FAIL|FAILED) |^(Assertion|Type|Syntax|Range)?Error: |^E  ' | head -40)
    broken+=("${lines[@]/#/$suite: }")
  fi
  mapfile -t lines < <(grep -a '^SKIPPED' "$logs/$suite")
  skipped+=("${lines[@]/#/$suite: }")
  summary+=("$(printf '  %-14s %-6s %5d s  %d skipped' "$suite" "$outcome" "$((SECONDS - began))" "${#lines[@]}")")
done

printf '%s\n' '' "suites:" "${summary[@]}"
for line in "${skipped[@]}" "${broken[@]}"; do echo "  $line"; done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
