"""`python -m quality.pages`: compares answers from fewer pages with full attention; writes tables and plots."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quality.pages.prompts import Long


def main() -> None:
    """Measures, then reports what has been measured so far."""
    options = _read_options()
    if not options.report_only:
        _measure(options)
    from quality.pages.report import write_report

    print(write_report(options.out))


def _measure(options: argparse.Namespace) -> None:
    from quality.in_engine.measure import Measurements
    from quality.pages.engine import Engine
    from quality.pages.measure import Case, measure

    engine = Engine(options.model)
    prompts = _prompts(options, engine.tokenizer)
    cases = [
        Case(name, every, ratio)
        for name, every in (_named(one) for one in options.selectors)
        for ratio in options.ratios
    ]
    kept = Measurements(options.out / "measured.jsonl")
    named = "forty prompts" if options.forty else None
    for line in measure(engine, prompts, options.tokens, cases, kept, options.minutes * 60, named):
        print(line, flush=True)


def _prompts(options: argparse.Namespace, tokenizer: Any) -> "list[Long]":
    from quality.pages.forty import forty
    from quality.pages.prompts import DIALOGUE, RETRIEVALS, first_five, prompts_of

    if options.forty:
        return forty(options.data, tokenizer, options.tokens)
    prompts = [] if options.only_others else first_five(options.data, tokenizer, options.tokens)
    for kind in (options.kinds or (*RETRIEVALS, DIALOGUE)) if options.prompts else ():
        count = options.skip + options.prompts
        given = prompts_of(options.data, kind, tokenizer, options.context, count, options.tokens)
        prompts += given[options.skip :]
    return prompts


def _named(text: str) -> tuple[str, int]:
    name, _, every = text.partition(":")
    return name, int(every or 1)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.pages", description=main.__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="folder of traces: rag_hotpot, memory_locomo, …")
    parser.add_argument("--model", help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements, tables and plots")
    parser.add_argument("--prompts", type=int, default=0, help="of each trace, beside the first five")
    parser.add_argument("--kinds", nargs="+", help="traces of these; all by default")
    parser.add_argument("--skip", type=int, default=2, help="prompts at the beginning of each trace")
    parser.add_argument("--only-others", action="store_true", help="leave out the first five")
    parser.add_argument("--forty", action="store_true", help="40 prompts of all kinds and lengths in place of these")
    parser.add_argument("--context", type=int, default=3000, help="tokens of a prompt, at most")
    parser.add_argument("--tokens", type=int, default=48, help="of an answer; all but the first are decode steps")
    parser.add_argument("--ratios", nargs="+", type=float, default=[0.1, 0.25, 0.5])
    parser.add_argument(
        "--selectors", nargs="+", help="names, with the steps between choices: attention-mass:2, chess:0 (page ends)",
        default=["attention-mass", "attention-mass:2", "quest", "recent", "random:0", "chess:0", "chess-unrotated:0",
                 "oracle"],
    )  # fmt: skip
    parser.add_argument("--minutes", type=float, default=600, help="what is left is measured the next time")
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
