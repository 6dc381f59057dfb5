"""Runs the tests on the GPU, then measures. Writes one JSON file and one table row by row, so no row is lost if a case
fails or time runs out. Without a GPU it says so and writes nothing."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import torch

from lab_kernels.bench.attention_cases import decode_cases, prefill_cases
from lab_kernels.bench.case import Case, Shape
from lab_kernels.bench.choose_cases import choose_cases
from lab_kernels.bench.measure import Row, Timer, first_line, measure_ceilings, measure_one, time_on_gpu
from lab_kernels.bench.other_cases import copy_cases, fill_cases, page_cases, rope_cases, score_cases, select_cases
from lab_kernels.bench.report import HEADING, render
from lab_kernels.bench.streaming_cases import deviation_cases, summary_cases, uncertainty_cases
from lab_kernels.launch.launch_table import read_table
from reprise_kernels.launch.launch_configs import TABLE

ALL_CASES = (
    prefill_cases, decode_cases, rope_cases, score_cases, select_cases, deviation_cases, summary_cases, page_cases,
    choose_cases,    uncertainty_cases, copy_cases, fill_cases,
)  # fmt: skip
HERE = Path(__file__).resolve().parents[2] / "tests"
TESTS = (Path(__file__).resolve().parents[4] / "kernels" / "tests", HERE)


Cases = Callable[[Shape], Iterator[Case]]
BY_NAME: dict[str, Cases] = {make.__name__.removesuffix("_cases"): make for make in ALL_CASES}


@dataclass
class Figures:
    """The results: a row per case, or in `failed`, by name, why there is none."""

    rows: list[Row] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def measure_all(
    makers: Sequence[Cases], shape: Shape, ceilings: dict[str, float], timer: Timer, keep: Callable[[Figures], None]
) -> Figures:
    """Measures each case and calls `keep` after it. A failed case is recorded and does not stop the others."""
    figures = Figures()
    for make in makers:
        name = make.__name__
        try:
            for case in make(shape):
                name = case.name
                try:
                    figures.rows.append(measure_one(case, ceilings, timer, _say))
                except Exception as error:
                    figures.failed[name] = first_line(error)
                keep(figures)
        except Exception as error:
            figures.failed[f"what comes after {name}" if name != make.__name__ else name] = first_line(error)
            keep(figures)
    return figures


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _tests_pass() -> bool:
    _say("testing first")
    # the compiler table is no precondition for measuring
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not sanitizer"]
    command += ["--ignore", str(HERE / "test_compiled.py")]
    # only the table goes to stdout
    return all(
        subprocess.run([*command, str(tests)], check=False, stdout=sys.stderr).returncode == 0 for tests in TESTS
    )


def main() -> int:
    """Returns 1 without a GPU or if a test fails, both without figures, and also if a case fails."""
    parser = argparse.ArgumentParser(prog="python -m lab_kernels.bench", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("bench-kernels.json"), help="where the JSON goes")
    parser.add_argument("--cases", nargs="+", choices=BY_NAME, default=[*BY_NAME], help="what is measured, else all")
    parser.add_argument("--skip-tests", action="store_true", help="for who has just run them")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        _say("there is no CUDA device: nothing is measured, and no figure is made up")
        return 1
    if not given.skip_tests and not _tests_pass():
        _say("tests are red: nothing is measured")
        return 1
    ceilings = measure_ceilings(time_on_gpu)
    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    machine |= {"date": date.today().isoformat(), "tuned_on": read_table(TABLE).tuned_on}
    print(HEADING, end="", flush=True)
    printed = 0

    def keep(figures: Figures) -> None:
        nonlocal printed
        document = machine | {"ceilings": ceilings, "rows": [row.as_json() for row in figures.rows]}
        given.output.write_text(json.dumps(document | {"failed": figures.failed}, indent=2) + "\n")
        print("".join(map(render, figures.rows[printed:])), end="", flush=True)
        printed = len(figures.rows)

    failed = measure_all([BY_NAME[name] for name in given.cases], Shape(), ceilings, time_on_gpu, keep).failed
    for name, why in failed.items():
        _say(f"{name} FAILED: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
