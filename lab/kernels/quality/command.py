"""What the commands that measure stored rows have in common: options, models with traces, and tables."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from quality.figures import bootstrap
from quality.in_engine.measure import ANSWER_TOKENS, Measurements
from quality.in_engine.prompts import Asked, Trace
from quality.stored_rows import Model

LONGEST = 8192
"""tokens of a prompt with its answer"""
AVERAGED = "averaged"
"""the case that others are compared with, where it was measured"""


def parser_of(name: str, about: str, *, prompts: int, needs_model: bool = True) -> argparse.ArgumentParser:
    """Returns a parser of the options that all measurements on stored rows have. prompts: how many, by default."""
    parser = argparse.ArgumentParser(prog=name, description=about)
    parser.add_argument("traces", nargs="*", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=needs_model, help="folder of the model")
    parser.add_argument("--out", type=Path, required=needs_model, help="folder for measurements and tables")
    parser.add_argument("--prompts", type=int, default=prompts, help="a trace")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    return parser


def open_traces(options: argparse.Namespace) -> Iterator[tuple[Model, Trace]]:
    """Yields the model, loaded once, with each trace."""
    if not options.traces:
        return
    from transformers import AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(options.model), Model(options.model, 2 * LONGEST)
    for folder in options.traces:
        yield model, Trace(folder, tokenizer, options.documents, options.seed, LONGEST - ANSWER_TOKENS)


def holds_answer(asked: Asked) -> bool:
    """Whether a prompt's documents hold the first of its gold answers."""
    return any(one.lower() in document.lower() for one in asked.answers[:1] for document in asked.documents)


def publish(kept: Measurements, folder: Path, base: str = AVERAGED) -> None:
    """Writes and prints the table of all that was measured, each case beside `base`, if that was measured."""
    text = report(kept.rows(), base)
    (folder / "figures.md").write_text(text)
    print(text)


def report(rows: Sequence[dict[str, Any]], base: str = AVERAGED) -> str:
    """Returns a table for each trace: means with 95 % intervals, and paired differences to those of `base`."""
    lines = []
    for trace in dict.fromkeys(row["trace"] for row in rows):
        of = {(row["prompt"], row["case"]): row for row in rows if row["trace"] == trace}
        ways = list(dict.fromkeys(way for _, way in of))
        names = [name for name in dict.fromkeys(name for name, _ in of) if all((name, way) in of for way in ways)]
        lines += [f"### {trace}, {len(names)} prompts", ""]
        for figure in [name for name in of[names[0], ways[0]] if name not in ("trace", "prompt", "case")]:
            head = "| | mean [95 %] |" + f" minus {base} [95 %] |" * (base in ways)
            lines += [figure, "", head, "| - | - |" + " - |" * (base in ways)]
            for way in ways:
                told = _told([of[name, way][figure] for name in names])
                if base in ways and way != base:
                    told += f" | {_told([of[name, way][figure] - of[name, base][figure] for name in names])}"
                lines.append(f"| {way} | {told} |")
            lines.append("")
    return "\n".join(lines)


def _told(values: Sequence[float]) -> str:
    return "{:.4f} [{:.4f}, {:.4f}]".format(*bootstrap(values))
