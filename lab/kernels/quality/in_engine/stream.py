"""`python -m quality.in_engine.stream`: how close answers stay to full attention's while traffic flows.

Requests of a working set of questions arrive, each with some of its question's documents in a random order, so that a
document meets other neighbours each time. What is stored comes from this traffic alone. Every so often, prompts of
documents seen before, whose rows are therefore all reused, are answered by each case and by full attention.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from quality.in_engine.engine import LONGEST, Engine
from quality.in_engine.measure import ANSWER_TOKENS, Case, Measurements, row_of
from quality.in_engine.prompts import Asked, Trace
from quality.in_engine.report import write_report

SALT = "stream"


def main() -> None:
    """Measures each trace, then reports."""
    options = _read_options()
    engine = Engine(options.model, store="all")
    kept = Measurements(options.out / "measured.jsonl")
    for folder in options.traces:
        trace = Trace(folder, engine.tokenizer, 1 << 20, options.seed)
        for line in stream(engine, trace, options, kept):
            print(line, flush=True)
    print(write_report(options.out))


def stream(engine: Engine, trace: Trace, options: argparse.Namespace, kept: Measurements) -> Iterator[str]:
    """Sends a trace's requests, and probes after every `options.every` of them. Yields a line for each probing."""
    order = random.Random(options.seed)
    working_set = trace.asked[: options.questions]
    seen: dict[str, None] = {}
    cases = [Case("stream", "attention-spread", 0.0)]
    cases += [Case("stream", method, options.ratio) for method in options.methods]
    engine.forget()
    for number in range(1, options.requests + 1):
        asked = order.choice(working_set)
        documents = order.sample(asked.documents, min(options.documents, len(asked.documents)))
        engine.choose_by(options.methods[0])
        engine.answer(trace.prompt(asked, documents), SALT, {"reuse": options.ratio})
        engine.idle(options.idle_steps)
        seen.update(dict.fromkeys(documents))
        if number % options.every == 0:
            for probe in range(options.probes):
                _probe(engine, trace, order, working_set, list(seen), cases, kept, f"{number}.{probe}", options)
            yield f"{trace.name}: {number} of {options.requests} requests, {len(seen)} documents, {engine.segments()}"


def _probe(
    engine: Engine, trace: Trace, order: random.Random, working_set: list[Asked], seen: list[str], cases: list[Case],
    kept: Measurements, name: str, options: argparse.Namespace,
) -> None:  # fmt: skip
    asked = order.choice(working_set)
    known = [one for one in asked.documents if one in set(seen)]
    known = order.sample(known, min(options.documents, len(known)))
    others = [one for one in seen if one not in known]
    documents = known + order.sample(others, options.documents - len(known))
    prompt = trace.prompt(asked, order.sample(documents, len(documents)))
    if len(prompt) > LONGEST - ANSWER_TOKENS:
        return
    reference, full = engine.answer(prompt, f"full {name}", {"reuse": "off"}, ANSWER_TOKENS)
    for case in cases:
        engine.choose_by(case.method)
        engine.take_counts()
        _, log = engine.answer(prompt, SALT, {"reuse": case.ratio}, ANSWER_TOKENS, reference)
        row = row_of(trace, asked, case, full, log) | engine.take_counts()
        kept.add(row | {"prompt": name, "tokens": len(prompt)})


def _read_options() -> argparse.Namespace:
    from quality.references import METHODS

    parser = argparse.ArgumentParser(prog="quality.in_engine.stream", description=main.__doc__)
    parser.add_argument("traces", nargs="+", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements, tables and plots")
    parser.add_argument("--requests", type=int, default=500, help="a trace")
    parser.add_argument("--questions", type=int, default=40, help="that the requests ask")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument("--every", type=int, default=25, help="requests between two probings")
    parser.add_argument("--probes", type=int, default=2, help="prompts of a probing")
    parser.add_argument("--idle-steps", type=int, default=0, help="steps that the engine has to itself after a request")
    parser.add_argument("--ratio", type=float, default=0.15)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["attention-spread", "prophetkv"])
    parser.add_argument("--seed", type=int, default=11, help="of the order of questions and documents")
    return parser.parse_args()


if __name__ == "__main__":
    main()
