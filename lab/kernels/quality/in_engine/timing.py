"""`python -m quality.in_engine.timing`: time to the first token under reuse, as a fraction of a cold prefill.

Measures CPU time of one thread: on a shared machine, wall-clock time of two threads says more about other load.
"""

import argparse
import statistics
import time
from collections import defaultdict
from pathlib import Path

from quality.in_engine.engine import Engine, open_engine
from quality.in_engine.prompts import Asked, Trace

RATIOS = (0.0, 0.15, 0.2)


def main() -> None:
    """Measures prompts of roughly the given length, each cold, as an exact hit, and under reuse; prints medians."""
    options = _read_options()
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
    engine.answer(trace.prompt(asked, asked.documents[::-1], "What is this about?"), salt, off)
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
    parser.add_argument("--host-dtype", default="model", help="as what rows are stored: model or int8")
    parser.add_argument("--seed", type=int, default=0, help="of the order of prompts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
