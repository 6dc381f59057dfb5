#!/usr/bin/env bash
# Does what needs a GPU, most valuable steps first, each resumable: a machine with one is at hand only now and then.
#
#   kernels/run-on-gpu.sh [STEP …]
#
# Steps of at most three minutes, with vLLM's GPU build and a model of the size of Llama-3.1-8B with random weights
# (SHAPE=1b: a smaller one):
#   reuse-test   the kernels that fill pages and attend to them, and the plugin's reuse, on this device
#   reuse        time to the first token with vLLM's defaults (compiled, full and piecewise graphs), 1K to 16K; with
#                PROFILE=FOLDER, traces of one request of each kind too
#   reuse-stock  the same prompts without the plugin
#   reuse-32k    longer prompts
#   host-tier    steps of others while rows go to host memory and come from there, beside the forwards and before them
#   sglang-reuse-test      the SGLang plugin's reuse in SGLang's scheduler, on this device
#   pages-stock, pages     decode steps at 8K and 32K, one and eight requests, stock and with fewer pages, both with
#                          vLLM's defaults
# Longer steps, of the kernels alone:
#   test (9 minutes), tune (8, and the compiler's table), bench (6; without `test` before it, it runs the tests itself),
#   sanitize (7)
#
# Without arguments, runs all in this order. A step that has passed is not run again on the same day and device: delete
# its .done file, or name the step. PYTHON names the interpreter (default: python3), which must have torch, triton,
# pytest, hypothesis and numpy (tests/requirements.txt), and for reuse and pages vllm; SGLANG_PYTHON (default:
# the same) must have sglang. Raw output goes to
# lab/kernels/results/DATE-DEVICE/; tuning also changes launch_configs.json here and COMPILED.md there: commit them.
set -uo pipefail
cd "$(dirname "$0")"
lab=../lab/kernels
python="${PYTHON:-python3}"
failed=0

say() { echo "run-on-gpu: $*" >&2; }

steps=(reuse-test reuse reuse-stock reuse-32k host-tier sglang-reuse-test pages-stock pages test tune bench sanitize)
for step in "$@"; do
  case " ${steps[*]} " in
  *" $step "*) ;;
  *)
    say "there is no step $step: ${steps[*]}"
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
  else
    touch "$results/$name.done"
  fi
  return "$code"
}

sanitize() {
  run sanitize 420 "$python" -m pytest -q -p no:cacheprovider -rs -m sanitizer "$lab/tests"
}

tune() {
  run tune 330 "$python" -m lab_kernels.tune --output "$results/tune.json" || return
  run compile 120 "$python" -m lab_kernels.aot || {
    rm "$results/tune.done"
    return 1
  }
  cp reprise_kernels/launch/launch_configs.json "$lab/COMPILED.md" "$results/"
}

# the compiler table is no precondition for measuring
tested=
test_kernels() {
  tested=red
  run test-kernels 270 "$python" -m pytest -q -p no:cacheprovider tests || return
  run test 270 "$python" -m pytest -q -p no:cacheprovider -m "not sanitizer" --ignore "$lab/tests/test_compiled.py" \
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
  else
    touch "$results/bench.done"
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
  has_vllm "$1" || return
  PYTHONPATH="$PWD:$lab:$plugin:../engine-adapters/python" VLLM_LOGGING_LEVEL=INFO \
    run "$1" 180 "$python" -m "quality.device.$2" --shape "${SHAPE:-8b}" "${@:3}"
}

reuse_test() {
  has_vllm reuse-test || return
  run reuse-test 120 "$python" -m pytest -q -p no:cacheprovider -rs tests/test_kv_fill.py \
    tests/reuse/test_{question_attention,host_store}.py "$plugin"/tests/reuse/test_{choose_kernels,page_layouts}.py \
    "$plugin"/tests/reuse/test_reuse_{as_vllm_computes,from_pages}.py
}

sglang_reuse_test() {
  local python="${SGLANG_PYTHON:-$python}"
  if ! "$python" -c 'import sglang' 2>/dev/null; then
    say "sglang-reuse-test FAILED: $python has no sglang: SGLANG_PYTHON names another interpreter"
    failed=1
    return 1
  fi
  run sglang-reuse-test 180 "$python" -m pytest -q -p no:cacheprovider -rs -m scheduler \
    ../engine-adapters/sglang/plugin/tests/reuse
}

[ $# -gt 0 ] || for step in "${steps[@]}"; do
  if [ -e "$results/$step.done" ]; then
    say "$step has passed: $results/$step.log"
  else
    set -- "$@" "$step"
  fi
done
for step in "$@"; do
  case "$step" in
  reuse-test) reuse_test ;;
  reuse) measure reuse reuse --contexts 1024 2048 4096 16384 ${PROFILE:+--profile "$PROFILE"} ;;
  reuse-stock) measure reuse-stock reuse --contexts 1024 2048 4096 16384 32768 --prompts 5 --stock ;;
  sglang-reuse-test) sglang_reuse_test ;;
  reuse-32k) measure reuse-32k reuse --contexts 32768 --prompts 5 ;;
  host-tier) measure host-tier host_tier ;;
  pages-stock) measure pages-stock pages --contexts 8192 32768 --batches 1 8 --stock ;;
  pages) measure pages pages --contexts 8192 32768 --batches 1 8 ;;
  test) test_kernels ;;
  *) "$step" ;;
  esac
done
say "done: $results"
exit "$failed"
