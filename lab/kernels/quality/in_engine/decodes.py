"""`python -m quality.in_engine.decodes`: how long running decodes wait while a long prompt is reused.

Four answers are being generated when a long prompt arrives. The CPU time of one thread per step is how long all of them
wait for their next token. The benchmark compares the steps of a cold prompt, which vLLM prefills in chunks, with those
of the same prompt under reuse, whose rows are computed in slices of the same size.
"""

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from quality.in_engine.engine import Engine
from quality.in_engine.prompts import Asked, Trace
from quality.in_engine.timing import prompts_of

DECODES = 4
CASES: dict[str, dict[str, object]] = {"cold": {"reuse": "off"}, **{f"reuse {r:g}": {"reuse": r} for r in (0.15, 0.5)}}


def main() -> None:
    """Measures each case on several prompts. Prints the slowest step of each, and its median step."""
    options = _read_options()
    engine = Engine(options.model, rows_per_step=options.rows, batched_tokens=options.rows)
    trace = Trace(options.trace, engine.tokenizer, 1 << 20, options.seed)
    prompts = prompts_of(trace, options.tokens, options.prompts)
    print(f"{trace.name}: {len(prompts)} prompts of about {options.tokens} tokens, {options.rows} rows a step")
    print("case         steps   median ms   slowest ms (median over prompts, range)")
    for name, wish in CASES.items():
        runs = [_steps(engine, trace, asked, name, wish) for asked in prompts]
        slowest = [max(run) for run in runs]
        middle = statistics.median(step for run in runs for step in run)
        print(
            f"{name:12} {statistics.mean(map(len, runs)):5.1f} {middle:11.1f} "
            f"{statistics.median(slowest):12.1f} [{min(slowest):.1f}, {max(slowest):.1f}]"
        )


def _steps(engine: Engine, trace: Trace, asked: Asked, name: str, wish: dict[str, object]) -> list[float]:
    """Returns milliseconds per step from a prompt's arrival to its first token, while other answers are generated."""
    salt = f"{name} {asked.name}"
    if wish["reuse"] != "off":
        engine.answer(trace.prompt(asked, asked.documents[::-1], "What is this about?"), salt, {"reuse": "off"})
    core = engine.llm.llm_engine
    for number in range(DECODES):
        _add(core, f"decode {number}", [7 + number] * 64, f"decode {number} {salt}", {"reuse": "off"}, 4096)
    while any(not request.num_output_tokens for request in core.engine_core.engine_core.scheduler.requests.values()):
        core.step()
    _add(core, "long", trace.prompt(asked), salt, wish, 1)
    milliseconds = []
    is_open = True
    while is_open:
        began = time.process_time()
        outputs = core.step()
        milliseconds.append((time.process_time() - began) * 1000)
        is_open = not any(output.request_id == "long" and output.finished for output in outputs)
    core.abort_request([f"decode {number}" for number in range(DECODES)])
    while core.has_unfinished_requests():
        core.step()
    return milliseconds


def _add(core: Any, name: str, prompt: list[int], salt: str, wish: dict[str, object], tokens: int) -> None:
    from vllm import SamplingParams

    extra = {"kv_transfer_params": {"reprise": wish}}
    sampling = SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, extra_args=extra)
    core.add_request(name, {"prompt_token_ids": prompt, "cache_salt": salt}, sampling)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.in_engine.decodes", description=main.__doc__)
    parser.add_argument("trace", type=Path, help="a folder with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--tokens", type=int, default=4000, help="in a prompt")
    parser.add_argument("--rows", type=int, default=512, help="computed in a step, by vLLM and by reuse")
    parser.add_argument("--prompts", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the order of prompts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
