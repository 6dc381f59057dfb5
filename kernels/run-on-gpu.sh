#!/usr/bin/env bash
# Does everything that needs a GPU in at most 25 minutes: sanitizer, tuning, the compiler's table for the chosen
# configurations, then the tests (including bfloat16 and captured graphs) and the benchmark.
#
#   kernels/run-on-gpu.sh [sanitize] [tune] [test] [bench] [reuse] [pages]
#
# Without arguments, runs the first four in this order; `bench` without `test` before it runs the tests itself. No step
# takes more than ten minutes, nor do `test bench` together. PYTHON names the interpreter (default: python3), which must
# have torch, triton, pytest, hypothesis and numpy (tests/requirements.txt). Results are written to
# lab/kernels/results/DATE-DEVICE/; tuning also changes launch_configs.json here and COMPILED.md there: commit them.
#
# `reuse` and `pages` are the vLLM plugin's reuse at any position and its page selection, inside vLLM's GPU build, which
# PYTHON must also have. They run the plugin's tests, then measure a model of the size of Llama-3.1-8B with random
# weights: the time to the first token, and the time of a decode step beside stock's (SHAPE=1b: a smaller model).
set -uo pipefail
cd "$(dirname "$0")"
lab=../lab/kernels
python="${PYTHON:-python3}"
failed=0

say() { echo "run-on-gpu: $*" >&2; }

for step in "$@"; do
  case "$step" in
  sanitize | tune | test | bench | reuse | pages) ;;
  *)
    say "there is no step $step: sanitize, tune, test, bench, reuse, pages"
    exit 2
    ;;
  esac
done

if ! missing=$("$python" - <<'PYTHON'
from importlib.util import find_spec

print(", ".join(name for name in ("torch", "triton", "pytest", "hypothesis", "numpy") if find_spec(name) is None))
PYTHON
); then
  say "$python cannot be run: PYTHON names the interpreter"
  exit 1
fi
if [ -n "$missing" ]; then
  say "$python lacks $missing: see tests/requirements.txt, and PYTHON to name another interpreter"
  exit 1
fi
device=$("$python" -c 'import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else "")') || exit 1
if [ -z "$device" ]; then
  say "there is no CUDA device: nothing is run, and nothing is written"
  exit 1
fi

results="$lab/results/$(date +%F)-${device// /-}"
mkdir -p "$results"
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH="$PWD:$PWD/tests:$PWD/$lab"

# a failed step does not stop the next one, but makes the script fail at the end
run() {
  local name="$1" seconds="$2"
  shift 2
  say "$name, at most $seconds s"
  timeout "$seconds" "$@" 2>&1 | tee "$results/$name.log"
  local code="${PIPESTATUS[0]}"
  if [ "$code" -ne 0 ]; then
    say "$name FAILED with $code: $results/$name.log"
    failed=1
  fi
  return "$code"
}

sanitize() {
  run sanitize 420 "$python" -m pytest -q -p no:cacheprovider -rs -m sanitizer "$lab/tests"
}

tune() {
  run tune 330 "$python" -m lab_kernels.tune --output "$results/tune.json" || return
  run compile 120 "$python" -m lab_kernels.aot || return
  cp reprise_kernels/launch/launch_configs.json "$lab/COMPILED.md" "$results/"
}

# the compiler table is no precondition for measuring
tested=
test_kernels() {
  tested=red
  run test 270 "$python" -m pytest -q -p no:cacheprovider tests || return
  run test-lab 270 "$python" -m pytest -q -p no:cacheprovider -m "not sanitizer" --ignore "$lab/tests/test_compiled.py" \
    "$lab/tests" || return
  tested=green
}

# the benchmark runs the tests itself unless they have just passed; only its table goes to stdout
bench() {
  local seconds=600 skip=()
  if [ "$tested" = red ]; then
    say "bench is not run: the tests are red"
    return 1
  fi
  if [ "$tested" = green ]; then
    seconds=330 skip=(--skip-tests)
  fi
  say "bench, at most $seconds s"
  timeout "$seconds" "$python" -m lab_kernels.bench --output "$results/bench.json" "${skip[@]}" \
    2>"$results/bench.log" >"$results/bench.md"
  local code=$?
  tail -n 20 "$results/bench.log" >&2
  cat "$results/bench.md"
  if [ "$code" -ne 0 ]; then
    say "bench FAILED with $code: $results/bench.log"
    failed=1
  fi
}

plugin=../engine-adapters/vllm/plugin

has_vllm() {
  "$python" -c 'import vllm' 2>/dev/null && return
  say "$1 FAILED: $python has no vllm"
  failed=1
  return 1
}

# the log says which kernels were faster than torch
measure() {
  PYTHONPATH="$PWD:$lab:$plugin:../engine-adapters/python" VLLM_LOGGING_LEVEL=INFO \
    run "$1" 300 "$python" -m "quality.device.$2" --shape "${SHAPE:-8b}" "${@:3}"
}

reuse() {
  has_vllm reuse || return
  run reuse-test 500 "$python" -m pytest -q -p no:cacheprovider -rs \
    "$plugin"/tests/test_reuse_*.py "$plugin"/tests/test_{choose_kernels,page_layouts,disk,restart_in_engine}.py
  measure reuse reuse --eager
}

pages() {
  has_vllm pages || return
  run pages-test 500 "$python" -m pytest -q -p no:cacheprovider -rs "$plugin"/tests/test_select_pages*.py
  measure pages-stock pages --stock
  # page selection needs attention outside the graphs
  measure pages pages --engine '{"compilation_config": {"cudagraph_mode": "PIECEWISE"}}'
}

[ $# -gt 0 ] || set -- sanitize tune test bench
for step in "$@"; do
  case "$step" in
  test) test_kernels ;;
  *) "$step" ;;
  esac
done
say "done: $results"
exit "$failed"
