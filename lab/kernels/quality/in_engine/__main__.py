"""`python -m quality.in_engine`: compares answers under reuse with full attention; writes tables and plots."""

import argparse
from importlib.util import find_spec
from pathlib import Path

RATIOS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)


def main() -> None:
    """Measures, then reports what has been measured so far."""
    options = _read_options()
    if not options.report_only:
        _measure(options)
    from quality.in_engine.report import write_report

    print(write_report(options.out))


def _measure(options: argparse.Namespace) -> None:
    from quality.in_engine.engine import LONGEST, open_engine
    from quality.in_engine.measure import ANSWER_TOKENS, Measurements, measure
    from quality.in_engine.prompts import Trace

    if any(stored.startswith(("similar", "mixed")) for stored in options.stored) and find_spec("bm25s") is None:
        # said before the model is loaded; vLLM does not start if it has been imported
        raise SystemExit("quality.in_engine: similar documents need bm25s")
    engine = open_engine(options.engine, options.model, options.host_dtype)
    kept = Measurements(options.out / "measured.jsonl")
    for folder in options.traces:
        trace = Trace(folder, engine.tokenizer, options.documents, options.seed, LONGEST - ANSWER_TOKENS)
        for line in measure(engine, trace, options.prompts, _cases(options), kept, options.minutes * 60):
            print(line, flush=True)


def _cases(options: argparse.Namespace) -> list:
    from quality.in_engine.measure import Case

    # where nothing or all is computed again, no method chooses
    cases = [Case(stored, "attention-spread", ratio) for stored in options.stored for ratio in (0.0, 1.0)]
    for stored in options.stored:
        for method in options.methods:
            cases += [Case(stored, method, ratio) for ratio in options.ratios if 0 < ratio < 1]
    return cases


def _read_options() -> argparse.Namespace:
    from reprise_settings.reuse_settings import HOST_DTYPES

    from quality.in_engine.measure import STORED
    from quality.references import METHODS

    parser = argparse.ArgumentParser(prog="quality.in_engine", description=main.__doc__)
    parser.add_argument("traces", nargs="*", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--engine", choices=("vllm", "sglang"), default="vllm", help="which this environment has")
    parser.add_argument("--model", help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements, tables and plots")
    parser.add_argument("--prompts", type=int, default=50, help="a trace")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS)
    parser.add_argument("--stored", nargs="+", choices=STORED, default=STORED[:3])
    parser.add_argument("--host-dtype", choices=HOST_DTYPES, default="model", help="as what rows are stored")
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    parser.add_argument("--minutes", type=float, default=600, help="a trace; what is left is measured the next time")
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
