"""`python -m quality.in_engine.timing`: time to the first token under reuse, as a fraction of a cold prefill.

Measures CPU time of one thread: on a shared machine, wall-clock time of two threads says more about other load. With
`--in-flight 1 2 4 8`, requests per second in place of the time to the first token (FusionRAG, fig. 15).
"""

import argparse
import random
import statistics
import time
from collections import defaultdict
from pathlib import Path

from quality.in_engine.engine import Engine, open_engine
from quality.in_engine.prompts import Asked, Trace

RATIOS = (0.0, 0.15, 0.2)
_ANSWER_TOKENS = 16
_ABOUT = "What is this about?"


def main() -> None:
    """Measures prompts of roughly the given length, each cold, as an exact hit, and under reuse; prints medians."""
    options = _read_options()
    if options.in_flight:
        print(_throughput(options))
        return
    engine = open_engine(options.engine, options.model, options.host_dtype)
    trace = Trace(options.trace, engine.tokenizer, 1 << 20, options.seed)
    parts: dict[str, list[float]] = defaultdict(list)
    lengths = []
    for asked in prompts_of(trace, options.tokens, options.prompts):
        lengths.append(len(trace.prompt(asked)))
        for name, part in _measure(engine, trace, asked).items():
            parts[name].append(part)
    print(f"{trace.name}: {len(lengths)} prompts of {min(lengths)} to {max(lengths)} tokens, parts of cold")
    for name, values in parts.items():
        print(f"{name:12} {statistics.median(values):.3f} [{min(values):.3f}, {max(values):.3f}]")


def _measure(engine: Engine, trace: Trace, asked: Asked) -> dict[str, float]:
    off, salt = {"reuse": "off"}, f"reuse {asked.name}"
    # seen before: the same documents in reverse order
    engine.answer(trace.prompt(asked, asked.documents[::-1], _ABOUT), salt, off)
    cold = _seconds(engine, trace.prompt(asked), f"cold {asked.name}", off)
    parts = {"exact hit": _seconds(engine, trace.prompt(asked, None, "Who was it?"), f"cold {asked.name}", off) / cold}
    for ratio in RATIOS:
        prompt = trace.prompt(asked, None, f"{asked.question} ({ratio})")
        parts[f"reuse {ratio:g}"] = _seconds(engine, prompt, salt, {"reuse": ratio}) / cold
    return parts


def _seconds(engine: Engine, prompt: list[int], salt: str, wish: dict[str, object]) -> float:
    began = time.process_time()
    engine.answer(prompt, salt, wish)
    return time.process_time() - began


def _throughput(options: argparse.Namespace) -> str:
    """Answers the same prompts without reuse and under it, so many at a time, alternately. Returns a table."""
    # as served: vLLM's chunks of prefill, and reuse only where it is predicted to be faster
    engine = Engine(options.model, rows_per_step=None, batched_tokens=2048, when="faster")
    trace = Trace(options.trace, engine.tokenizer, 1 << 20, options.seed)
    all_asked = prompts_of(trace, options.tokens, options.prompts)
    for asked in all_asked:
        engine.answer(trace.prompt(asked, asked.documents[::-1], _ABOUT), "seen", {"reuse": "off"})
    measured: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    # the first round is not measured: it brings what was seen from pages to host memory
    cases = [(count, wish) for count in options.in_flight for wish in ("off", RATIOS[1])]
    for number in range(options.repeats + 1):
        for count, wish in random.Random(number).sample(cases, len(cases)) if number else cases[:2]:
            prompts = [trace.prompt(asked, None, f"{asked.question} ({count}, {number})") for asked in all_asked]
            salt = f"cold {count} {number}" if wish == "off" else "seen"
            taken = _serve(engine, prompts, salt, wish, count)
            if number:
                measured[count, str(wish)].append(taken)
            print(number, count, wish, *(f"{one:.2f}" for one in taken), engine.take_counts(), flush=True)
    lines = [
        f"{trace.name}: {len(all_asked)} prompts, requests per second of processor time, medians of "
        f"{options.repeats} [range]",
        "",
        "| in flight | without reuse | 15 % computed again | as many times | seconds of wall-clock time a request |",
        "| - | - | - | - | - |",
    ]
    for count in options.in_flight:
        stock, reuse = measured[count, "off"], measured[count, str(RATIOS[1])]
        rates = [[1 / cpu for cpu, _ in one] for one in (stock, reuse)]
        cells = [f"{statistics.median(rate):.3f} [{min(rate):.3f}, {max(rate):.3f}]" for rate in rates]
        times = [more / less for less, more in zip(*rates, strict=True)]
        cells.append(f"{statistics.median(times):.2f} [{min(times):.2f}, {max(times):.2f}]")
        cells.append(", ".join(f"{statistics.median(wall for _, wall in one):.2f}" for one in (stock, reuse)))
        lines.append(f"| {count} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _serve(engine: Engine, prompts: list[list[int]], salt: str, wish: str | float, count: int) -> tuple[float, float]:
    """Answers prompts, `count` of them at a time. Returns processor and wall-clock seconds a request."""
    from vllm import SamplingParams

    core = engine.llm.llm_engine
    engine.begin_anew()
    waiting = list(enumerate(prompts))
    processor, wall = time.process_time(), time.monotonic()
    open_requests = 0
    while waiting or open_requests:
        while waiting and open_requests < count:
            number, prompt = waiting.pop(0)
            # nothing is kept: the next round must find the same
            extra = {"kv_transfer_params": {"reprise": {"reuse": wish, "kept_from": len(prompt)}}}
            sampling = SamplingParams(temperature=0, max_tokens=_ANSWER_TOKENS, ignore_eos=True, extra_args=extra)
            core.add_request(f"{salt} {number}", {"prompt_token_ids": prompt, "cache_salt": salt}, sampling)
            open_requests += 1
        open_requests -= sum(output.finished for output in core.step())
    processor, wall = time.process_time() - processor, time.monotonic() - wall
    return processor / len(prompts), wall / len(prompts)


def prompts_of(trace: Trace, tokens: int, count: int) -> list[Asked]:
    """Questions with enough documents, their own and those of the next questions, for this many tokens."""
    made = []
    for first in range(count):
        documents: list[str] = []
        asked = trace.asked[first]
        for other in trace.asked[first:]:
            for document in other.documents:
                if document not in documents:
                    longer = Asked(asked.name, asked.question, [*documents, document], asked.answers)
                    if len(trace.prompt(longer)) > tokens * 1.05:
                        break
                    documents.append(document)
        made.append(Asked(asked.name, asked.question, documents, asked.answers))
    return made


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.in_engine.timing", description=main.__doc__)
    parser.add_argument("trace", type=Path, help="a folder with queries.jsonl and blocks.jsonl")
    parser.add_argument("--engine", choices=("vllm", "sglang"), default="vllm", help="which this environment has")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--tokens", type=int, default=2000, help="in a prompt")
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--in-flight", nargs="+", type=int, help="measure throughput with so many requests at once")
    parser.add_argument("--repeats", type=int, default=3, help="of that")
    parser.add_argument("--host-dtype", default="model", help="as what rows are stored: model or int8")
    parser.add_argument("--seed", type=int, default=0, help="of the order of prompts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
