"""`python -m quality.pages.timing`: the time of a decode step with fewer pages, as a fraction of a stock step, and the
cost of choosing.

Measures CPU time of one thread: on a shared machine, wall-clock time of two threads says more about other load. Modes
take turns in one process, so that other load on the memory affects all of them.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from quality.pages.engine import Engine
from quality.pages.prompts import DIALOGUE, prompts_of

# the prefill's step, and the step that summarises all pages
_FIRST_STEPS = 2


def main() -> None:
    """Measures each mode at each context length. Prints medians over rounds with their range."""
    options = _read_options()
    most = max(options.batches)
    engine = Engine(options.model, least_tokens=options.least_tokens, requests=most)
    spent = _Spent(engine)
    for context, batch in product(options.contexts, options.batches):
        prompts = _prompts(options.data, engine, context, batch)
        # prefill now: later runs find it in the cache
        for prompt in prompts:
            engine.answer(prompt, 1)
        parts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        stocks = []
        for _ in range(options.rounds):
            times, _ = _time_steps(engine, spent, prompts, options.steps, None)
            stock = statistics.median(times[_FIRST_STEPS:])
            stocks.append(stock)
            _say_stretches("stock", times, options.stretch)
            for name in options.modes:
                selector, every, ratio = name.split(":")
                engine.choose_by(selector, int(every))
                times, own = _time_steps(engine, spent, prompts, options.steps, float(ratio))
                later = slice(_FIRST_STEPS, None)
                figures = statistics.median(times[later]), statistics.median(own[later]), times[1]
                parts[name].append(tuple(figure / stock for figure in figures))
                _say_stretches(name, times, options.stretch)
        print(f"context {context}, batch {batch}: a stock step {1e3 * statistics.median(stocks):.1f} ms of CPU time")
        for name, values in parts.items():
            step, own, first = zip(*values, strict=True)
            print(
                f"  {name:26} {statistics.median(step):.3f} [{min(step):.3f}, {max(step):.3f}], of it choosing "
                f"{statistics.median(own):.3f}; the first step {statistics.median(first):.2f}",
                flush=True,
            )


def _prompts(data: Path, engine: Engine, context: int, batch: int) -> list[list[int]]:
    """Returns `batch` prompts of `context` tokens each: parts of dialogues, none a prefix of another."""
    stream: list[int] = []
    for at in range(10):
        if len(stream) < context + 512 * batch:
            stream += prompts_of(data, DIALOGUE, engine.tokenizer, context, at + 1, 0)[at].tokens
    return [stream[512 * at : 512 * at + context] for at in range(batch)]


def _say_stretches(name: str, times: list[float], stretch: int) -> None:
    stretches = [times[at : at + stretch] for at in range(_FIRST_STEPS, len(times), stretch)]
    if len(stretches) > 1:
        medians = " ".join(f"{1e3 * statistics.median(one):.1f}" for one in stretches)
        print(f"  {name:26} ms a step, by {stretch} steps: {medians}", flush=True)


def _time_steps(
    engine: Engine, spent: "_Spent", prompts: list[list[int]], steps: int, ratio: float | None
) -> tuple[list[float], list[float]]:
    """CPU seconds of each step in which all requests decode, and of choosing within it."""
    from vllm import SamplingParams

    extra = {} if ratio is None else {"extra_args": {"reprise_pages": ratio}}
    sampling = SamplingParams(temperature=0, max_tokens=steps, ignore_eos=True, detokenize=False, **extra)
    engine.begin_free()
    running = engine.llm.llm_engine
    for prompt in prompts:
        running.add_request(f"timing-{time.monotonic_ns()}", {"prompt_token_ids": prompt}, sampling)
    times, own = [], []
    while running.has_unfinished_requests():
        spent.seconds = 0.0
        began = time.process_time()
        running.step()
        times.append(time.process_time() - began)
        own.append(spent.seconds)
    return times, own


class _Spent:
    """CPU time spent in selection: in the builder, and in the layers."""

    def __init__(self, engine: Engine) -> None:
        self.seconds = 0.0
        for name in ("rewrite", "in_layer"):
            setattr(engine.selection, name, self._timed(getattr(engine.selection, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds += time.process_time() - began

        return timed


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.pages.timing", description=main.__doc__)
    parser.add_argument("data", type=Path, help="folder of traces")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--contexts", nargs="+", type=int, default=[2048, 4096, 8064])
    parser.add_argument("--batches", nargs="+", type=int, default=[1], help="requests that decode together")
    parser.add_argument("--steps", type=int, default=28, help="of an answer")
    parser.add_argument("--stretch", type=int, default=256, help="steps whose median is told, of a long answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--least-tokens", type=int, default=1, help="shorter contexts stay dense")
    parser.add_argument(
        "--modes", nargs="+", help="SELECTOR:EVERY:RATIO",
        default=["attention-mass:1:0.1", "attention-mass:1:0.25", "attention-mass:2:0.1", "attention-mass:2:0.25",
                 "attention-mass:1:0.5", "quest:1:0.25", "recent:0:0.1", "recent:0:0.25"],
    )  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    main()
