"""`python -m quality.in_engine.question`: whether rows are chosen better if the question's place is known.

The plugin takes what follows the last text seen before for the question. Here its true place is given in some cases, in
prompts with the question at different places.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from quality.figures import bootstrap
from quality.in_engine.engine import LONGEST, Engine
from quality.in_engine.measure import ANSWER_TOKENS, GROUP, Case, Measurements, row_of, store
from quality.in_engine.prompts import DOCUMENT, SYSTEM, Asked, Trace
from reprise_reuse.prompts import claims
from reprise_reuse.segments import Found

_END = "<|im_end|>\n<|im_start|>assistant\n"
_MARKUP = re.compile(r"<\|[^|>]*\|>(?:system|user|assistant)?")
_BRIEF = "\nAnswer with a few words."
_RULES = """
Follow these rules when you write your answer:
1. Use only facts that are stated in the documents. Do not use what you know from elsewhere, and do not guess.
2. If the documents contradict each other, prefer the one that is more specific, and ignore the others.
3. If a name is spelled in several ways, spell it as the document does that says most about it.
4. Do not repeat the task. Do not explain how you found the answer, and do not mention the documents.
5. Write dates as they are written in the documents, and numbers with their units.
6. Be polite and neutral, and do not address the user by name.
Answer with a few words, on a single line, without quotation marks and without a full stop at its end."""

PLACES = {
    "last": ("", "Question: ", _BRIEF),
    "first": ("Question: ", "", ""),
    "before instructions": ("", "Question: ", "\n" + _RULES),
    "after instructions": ("", _RULES + "\n\nQuestion: ", ""),
}
"""what stands before a question in front of the documents, or before one behind them, and behind it"""


class Placed(Trace):
    """A trace whose prompts have their question at one place."""

    place = "last"
    density = 0.25
    """tokens a character"""

    def parts(
        self, asked: Asked, documents: Sequence[str] | None, question: str | None
    ) -> tuple[list[int], range, range]:
        """Returns a prompt's tokens, the positions of the question's, and those that a proxy expects for it.

        A proxy knows characters of messages, and how many tokens the last prompts had for each. What counts as the
        question is what stands before the documents, its end.
        """
        ahead, before, behind = PLACES[self.place]
        text = question or asked.question
        blocks = [DOCUMENT.format(one) for one in (asked.documents if documents is None else documents)]
        around = [SYSTEM + ahead, text, "\n\n", *blocks, behind + _END]
        if not ahead:
            around = [SYSTEM, *blocks, before, text, behind + _END]
        encoded = [self.tokens_of(one) for one in around]
        at = 1 if ahead else len(around) - 2
        start = sum(map(len, encoded[:at]))
        tokens = [token for part in encoded for token in part]
        written = [_MARKUP.sub("", one) for one in around]
        expected = round(self.density * sum(map(len, written[: at + 1])))
        self.density += 0.2 * (len(tokens) / sum(map(len, written)) - self.density)
        return (
            tokens,
            range(start, start + len(encoded[at])),
            range(max(0, expected - claims.QUESTION_TOKENS), expected),
        )

    def prompt(self, asked: Asked, documents: Sequence[str] | None = None, question: str | None = None) -> list[int]:
        return self.parts(asked, documents, question)[0]


class Asking:
    """Replaces the plugin's guess of what the question is."""

    def __init__(self) -> None:
        self._guess = claims._question
        self.name = "guessed"
        self.true = self.expected = range(0)
        self.guessed: list[int] = []
        claims._question = self._ask

    def _ask(self, found: Sequence[Found], begin: int, length: int, new_tail: int) -> list[int]:
        self.guessed = self._guess(found, begin, length, new_tail)
        return QUESTIONS[self.name](self, length)


QUESTIONS: dict[str, Callable[[Asking, int], list[int]]] = {
    "guessed": lambda asking, _length: asking.guessed,
    "true": lambda asking, _length: list(asking.true[-claims.QUESTION_TOKENS :]),
    "true and end": lambda asking, length: sorted(
        {*asking.true[-claims.LAST_TOKENS :], *range(length - claims.LAST_TOKENS, length)}
    ),
    "expected": lambda asking, _length: list(asking.expected),
}
"""what is asked, given the prompt's length"""


def main() -> None:
    """Measures, then reports what has been measured so far."""
    options = _read_options()
    kept = options.out / "measured.jsonl"
    if not options.report_only:
        engine, measurements, asking = Engine(options.model), Measurements(kept), Asking()
        for place in options.places:
            for folder in options.traces:
                trace = Placed(folder, engine.tokenizer, options.documents, options.seed, LONGEST // 2)
                trace.place = place
                for line in measure(engine, trace, asking, options, measurements):
                    print(line, flush=True)
    print(report(kept))


def measure(
    engine: Engine, trace: Placed, asking: Asking, options: argparse.Namespace, kept: Measurements
) -> Iterator[str]:
    """Measures the first prompts of a trace that are not measured yet. Yields a progress line for each."""
    for new in options.new:
        stored = f"{options.stored}, {new} new, {trace.place}"
        cases = [
            Case(stored, f"{method}, {name}", options.ratio) for method in options.methods for name in options.questions
        ]
        for first in range(0, options.prompts, GROUP):
            group = trace.asked[first : min(first + GROUP, options.prompts)]
            open_ = {one.name: kept.open_cases(trace.name, one.name, cases) for one in group}
            if not any(open_.values()):
                continue
            engine.forget()
            salt = f"{stored} {first}"
            # the last documents are new
            seen = [Asked(one.name, one.question, one.documents[: len(one.documents) - new], []) for one in group]
            store(engine, trace, seen, options.stored, salt)
            for asked in (one for one in group if open_[one.name]):
                _measure_prompt(engine, trace, asking, asked, open_[asked.name], kept, salt)
                yield f"{trace.name}, {stored}: {asked.name}"


def _measure_prompt(
    engine: Engine, trace: Placed, asking: Asking, asked: Asked, cases: list[Case], kept: Measurements,
    salt: str,
) -> None:  # fmt: skip
    prompt, asking.true, asking.expected = trace.parts(asked, None, None)
    reference, full = engine.answer(prompt, f"full {salt}", {"reuse": "off"}, ANSWER_TOKENS)
    for case in cases:
        method, asking.name = case.method.split(", ")
        engine.choose_by(method)
        engine.take_counts()
        # nothing is kept: another case must not find the question among what was seen before
        wish = {"reuse": case.ratio, "kept_from": len(prompt)}
        _, log = engine.answer(prompt, salt, wish, ANSWER_TOKENS, reference)
        row = row_of(trace, asked, case, full, log) | engine.take_counts() | {"tokens": len(prompt)}
        right = len(set(asking.guessed) & set(asking.true))
        kept.add(row | {"guessed": len(asking.guessed), "true": len(asking.true), "right": right})


def report(path: Path) -> str:
    """Returns a table: KL for each way of asking, and the paired difference to the guess."""
    groups: dict[tuple[str, str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    guesses: dict[str, list[dict]] = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        method, name = row["method"].split(", ", 1)
        for trace in (row["trace"], "all"):
            groups[row["stored"], trace, method][name][row["trace"] + row["prompt"]] = row["kl"]
        guesses[row["stored"]].append(row)
    lines = [f"| stored, new, question | trace | method | prompts | of it guessed | {' | '.join(QUESTIONS)} |"]
    lines.append("| - " * (5 + len(QUESTIONS)) + "|")
    for (stored, trace, method), kinds in sorted(groups.items()):
        guess = kinds["guessed"]
        right = [row["right"] / row["true"] for row in guesses[stored] if trace in ("all", row["trace"])]
        cells = [f"{bootstrap(list(guess.values()))[0]:.4f}"]
        for name in list(QUESTIONS)[1:]:
            both = [prompt for prompt in guess if prompt in kinds[name]]
            if not both:
                cells.append("-")
                continue
            mean = bootstrap([kinds[name][one] for one in both])[0]
            difference, low, high = bootstrap([kinds[name][one] - guess[one] for one in both])
            cells.append(f"{mean:.4f}: {difference:+.4f} [{low:+.4f}, {high:+.4f}]")
        share = f"{sum(right) / len(right):.0%}"
        lines.append(f"| {stored} | {trace} | {method} | {len(guess)} | {share} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.in_engine.question", description=main.__doc__)
    parser.add_argument("traces", nargs="*", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements")
    parser.add_argument("--prompts", type=int, default=12, help="a trace")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument("--places", nargs="+", choices=list(PLACES), default=list(PLACES))
    parser.add_argument("--questions", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--new", nargs="+", type=int, default=[0, 1], help="documents not seen before, the last ones")
    parser.add_argument("--stored", default="live", choices=("alone", "live", "averaged"))
    parser.add_argument("--methods", nargs="+", default=["attention-spread"])
    parser.add_argument("--ratio", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
