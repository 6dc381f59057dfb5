"""Tests on the GPU, then measures: one JSON file and one table. Without a GPU it says so and writes nothing."""

import argparse
import json
import subprocess
import sys
from datetime import date
from itertools import chain
from pathlib import Path

import torch

from reprise_kernels.bench.attention_cases import decode_cases, prefill_cases
from reprise_kernels.bench.case import Case, Shape
from reprise_kernels.bench.measure import measure, measure_ceilings, time_on_gpu
from reprise_kernels.bench.other_cases import copy_cases, page_cases, rope_cases, score_cases, select_cases
from reprise_kernels.bench.report import render
from reprise_kernels.bench.streaming_cases import deviation_cases, summary_cases, uncertainty_cases
from reprise_kernels.launch_configs import TABLE, read_table

ALL_CASES = (
    prefill_cases, decode_cases, rope_cases, score_cases, select_cases, deviation_cases, summary_cases, page_cases,
    uncertainty_cases, copy_cases,
)  # fmt: skip
TESTS = Path(__file__).resolve().parents[2] / "tests"


def main() -> int:
    """Returns 1 without a GPU or where a test is red: then there are no figures."""
    parser = argparse.ArgumentParser(prog="python -m reprise_kernels.bench", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("bench-kernels.json"), help="where the JSON goes")
    output = parser.parse_args().output
    if not torch.cuda.is_available():
        print("there is no CUDA device: nothing is measured, and no figure is made up", file=sys.stderr)
        return 1
    print("testing first", file=sys.stderr)
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "not sanitizer", str(TESTS)]
    # the table alone goes to stdout
    if subprocess.run(tests, check=False, stdout=sys.stderr).returncode:
        print("tests are red: nothing is measured", file=sys.stderr)
        return 1
    shape = Shape()
    ceilings = measure_ceilings(time_on_gpu)
    cases: chain[Case] = chain.from_iterable(make(shape) for make in ALL_CASES)
    rows = measure(cases, ceilings, time_on_gpu, lambda line: print(line, file=sys.stderr))
    machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    machine |= {"date": date.today().isoformat(), "tuned_on": read_table(TABLE).tuned_on}
    document = machine | {"ceilings": ceilings, "rows": [row.as_json() for row in rows]}
    output.write_text(json.dumps(document, indent=2) + "\n")
    print(render(rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
