"""`python -m quality.in_engine.turns`: measures conversations in which each turn adds documents and a question.

A turn under reuse continues from the approximate rows of earlier turns. Full attention answers the same conversation.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from quality.in_engine.engine import LONGEST, Engine
from quality.in_engine.measure import ANSWER_TOKENS, GROUP, Case, Measurements, row_of, store
from quality.in_engine.prompts import Asked, Trace
from quality.in_engine.report import write_report

TURNS = 3


def main() -> None:
    """Measures, then reports what has been measured so far."""
    options = _read_options()
    engine = Engine(options.model)
    kept = Measurements(options.out / "measured.jsonl")
    kinds = [(method, ratio) for method in options.methods for ratio in options.ratios]
    for folder in options.traces:
        trace = Trace(folder, engine.tokenizer, options.documents, options.seed, LONGEST // TURNS - ANSWER_TOKENS)
        for line in measure(engine, trace, options.conversations, kinds, kept):
            print(line, flush=True)
    print(write_report(options.out))


def measure(
    engine: Engine, trace: Trace, conversations: int, kinds: Sequence[tuple[str, float]], kept: Measurements
) -> Iterator[str]:
    """Measures the first conversations of a trace that are not measured yet. Yields a progress line for each."""
    for number in range(conversations):
        turns = trace.asked[number * TURNS : (number + 1) * TURNS]
        last = turns[-1].name
        open_kinds = [one for one in kinds if kept.open_cases(trace.name, last, [_case(one, TURNS)])]
        if not open_kinds:
            continue
        engine.forget()
        salt = f"turns {number}"
        # store after documents of other questions, too
        store(engine, trace, [*turns, *trace.asked[TURNS - GROUP :]], "averaged", salt)
        prompts, answers, full = _by_full_attention(engine, trace, turns, number)
        for kind in open_kinds:
            engine.choose_by(kind[0])
            for turn, (prompt, answer, asked) in enumerate(zip(prompts, answers, turns, strict=True)):
                engine.take_counts()
                _, log = engine.answer(prompt, salt, {"reuse": kind[1]}, ANSWER_TOKENS, answer, goes_on=turn > 0)
                row = row_of(trace, asked, _case(kind, turn + 1), full[turn], log)
                kept.add(row | engine.take_counts() | {"tokens": len(prompt)})
        yield f"{trace.name}: {number + 1} of {conversations} conversations"


def _by_full_attention(engine: Engine, trace: Trace, turns: Sequence[Asked], number: int) -> tuple[list, list, list]:
    """Returns the prompts of a conversation's turns, full attention's greedy answers, and their log-probabilities."""
    prompts, answers, full = [trace.prompt(turns[0])], [], []
    for turn in range(len(turns)):
        if turn:
            prompts.append(trace.next_turn(prompts[-1], answers[-1], turns[turn]))
        answer, log = engine.answer(prompts[-1], f"full {number}", {"reuse": "off"}, ANSWER_TOKENS)
        answers.append(answer)
        full.append(log)
    return prompts, answers, full


def _case(kind: tuple[str, float], turn: int) -> Case:
    return Case(f"averaged, turn {turn}", *kind)


def _read_options() -> argparse.Namespace:
    from quality.references import METHODS

    parser = argparse.ArgumentParser(prog="quality.in_engine.turns", description=main.__doc__)
    parser.add_argument("traces", nargs="+", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements, tables and plots")
    parser.add_argument("--conversations", type=int, default=16, help="a trace")
    parser.add_argument("--documents", type=int, default=4, help="a turn")
    parser.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=["attention-spread", "prophetkv", "epic"]
    )
    parser.add_argument("--ratios", nargs="+", type=float, default=[0.0, 0.15, 1.0])
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
