"""Measures each operation's few launch configurations on the GPU and writes the table of the best ones.

Correctness comes first: a configuration that fails the check of a case is not timed, and if any computes a wrong result
nothing is written. Without a GPU it says so and writes nothing.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import torch
import triton

from lab_kernels.bench.attention_cases import decode_cases, prefill_cases
from lab_kernels.bench.case import Case, Shape
from lab_kernels.bench.choose_cases import choose_cases
from lab_kernels.bench.measure import Timer, time_on_gpu
from lab_kernels.bench.other_cases import copy_cases, fill_cases, page_cases, rope_cases, score_cases, select_cases
from lab_kernels.bench.streaming_cases import deviation_cases, summary_cases, uncertainty_cases
from lab_kernels.launch.launch_spaces import RELEASED, SPACES, Config
from lab_kernels.launch.launch_table import LaunchTable, describe, trying
from reprise_kernels.launch.launch_configs import TABLE

CASES: dict[str, Callable[[Shape], Iterator[Case]]] = {
    "sparse_prefill_attention": prefill_cases,
    "sparse_decode_attention": decode_cases,
    "question_scores": score_cases,
    "rope_shift": rope_cases,
    "select_tokens": select_cases,
    "page_summary": summary_cases,
    "hierarchical_select": page_cases,
    "choose_pages": choose_cases,
    "generation_uncertainty": uncertainty_cases,
    "kv_deviation": deviation_cases,
    "kv_copy": copy_cases,
    "kv_fill": fill_cases,
}
# the shape of the performance targets
SHAPE = Shape(ratios=(0.15,), batches=(4, 64))


@dataclass
class Trial:
    """The result of one configuration: milliseconds per case, or why there are none."""

    operation: str
    config: Config
    milliseconds: dict[str, float] = field(default_factory=dict)
    failed: str | None = None
    wrong: bool = False

    def cost(self) -> float:
        """How configurations of an operation are compared: the mean logarithm, so that every case has equal weight."""
        return sum(map(math.log, self.milliseconds.values())) / len(self.milliseconds)


def try_operation(
    operation: str, cases: Iterator[Case], space: Sequence[Config], timer: Timer, say: Callable[[str], None]
) -> list[Trial]:
    """Checks and times every configuration on every case; drops a configuration once it fails."""
    trials = [Trial(operation, config) for config in space]
    for case in cases:
        for trial in trials:
            if trial.failed is None:
                _try(trial, case, timer)
                came = trial.failed or f"{trial.milliseconds[case.name]:.4g} ms"
                say(f"{case.name}, {describe(trial.config)}: {came}")
    return trials


def _try(trial: Trial, case: Case, timer: Timer) -> None:
    try:
        with trying(trial.operation, trial.config):
            case.check()
            trial.milliseconds[case.name] = timer(case.run, case.graph)
    except Exception as error:
        # a configuration that exceeds the GPU's resources must not stop the others
        trial.failed = str(error).splitlines()[0] if str(error) else type(error).__name__
        trial.wrong = isinstance(error, AssertionError)


def choose(trials: Sequence[Trial]) -> dict[str, Config]:
    """Returns the best configuration per operation. Raises ValueError if one is wrong or an operation has none."""
    wrong = [f"{one.operation}, {describe(one.config)}: {one.failed}" for one in trials if one.wrong]
    if wrong:
        raise ValueError(f"wrong: {'; '.join(wrong)}")
    chosen = {}
    for operation in SPACES:
        fit = [trial for trial in trials if trial.operation == operation and trial.failed is None]
        if not fit:
            raise ValueError(f"no configuration of {operation} could be run")
        chosen[operation] = min(fit, key=Trial.cost).config
    return chosen


def main() -> int:
    """Returns 1 if nothing could be chosen; the table then stays as it is."""
    parser = argparse.ArgumentParser(prog="python -m lab_kernels.tune", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("tune-kernels.json"), help="where all times go")
    parser.add_argument("--table", type=Path, default=TABLE, help="the table to write")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print("there is no CUDA device: nothing is tuned, and the table stays as it is", file=sys.stderr)
        return 1
    trials = []
    for operation, space in SPACES.items():
        say = lambda line, operation=operation: print(f"{operation}: {line}", file=sys.stderr)  # noqa: E731
        trials += try_operation(operation, CASES[operation](SHAPE), space, time_on_gpu, say)
    where = {"gpu": torch.cuda.get_device_name(), "date": date.today().isoformat()}
    where |= {"torch": torch.__version__, "triton": triton.__version__}
    given.output.write_text(json.dumps(where | {"trials": [asdict(trial) for trial in trials]}, indent=2) + "\n")
    try:
        chosen = choose(trials)
    except ValueError as error:
        print(f"the table stays as it is: {error}", file=sys.stderr)
        return 1
    given.table.write_text(LaunchTable(where, {name: chosen[name] for name in SPACES if name in RELEASED}).as_json())
    print("".join(f"{operation}: {describe(config)}\n" for operation, config in chosen.items()), end="")
    print("now `python -m lab_kernels.aot` compiles what was chosen for all sizes of heads", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
