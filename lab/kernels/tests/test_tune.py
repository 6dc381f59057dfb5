"""Tuning measures only correct configurations and chooses the best; only a GPU can say which that is."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cases import DEVICE

from lab_kernels.bench.case import Case
from lab_kernels.launch.launch_spaces import SPACES
from lab_kernels.tune import Trial, choose, try_operation
from reprise_kernels.launch.launch_configs import TABLE, launch_config

KERNELS = Path(__file__).resolve().parent.parent
SPACE = SPACES["kv_fill"]


def current() -> dict[str, int]:
    """Returns what kv_fill would be launched with."""
    return dict(launch_config("kv_fill", {}))


def case(name: str = "case", wrong: int | None = None, greedy: int | None = None) -> Case:
    """Returns a case whose check fails with one configuration, and which requests too much with another."""

    def check() -> None:
        if wrong is not None and current() == SPACE[wrong]:
            raise AssertionError("keys: RMS error\nand more")

    def run() -> None:
        if greedy is not None and current() == SPACE[greedy]:
            raise RuntimeError("out of resource: shared memory")

    return Case(name, run, check, 1.0, 1.0, "memory")


def fake_clock(times: dict[int, float], timed: list[int]):
    """Replaces a GPU's clock: returns a time per configuration, by its number in the space."""

    def timer(run, graph: bool) -> float:
        run()
        number = SPACE.index(current())
        timed.append(number)
        return times.get(number, 9.0)

    return timer


def test_every_configuration_is_timed_with_every_case_under_that_configuration():
    timed = []
    timer = fake_clock({2: 1.0}, timed)
    trials = try_operation("kv_fill", iter([case("a"), case("b")]), SPACE, timer, lambda line: None)
    assert timed == [*range(len(SPACE))] * 2
    assert [trial.milliseconds for trial in trials][2] == {"a": 1.0, "b": 1.0}


def test_a_wrong_configuration_is_not_timed_and_nothing_is_chosen():
    timed, said = [], []
    trials = try_operation("kv_fill", iter([case(wrong=1), case("b")]), SPACE, fake_clock({}, timed), said.append)
    assert 1 not in timed
    assert "RMS error" in said[1]
    assert "\n" not in said[1]
    with pytest.raises(ValueError, match="wrong: kv_fill, rows 8, warps 2: keys: RMS error"):
        choose([*trials, *others()])


def others(without: str = "kv_fill") -> list[Trial]:
    """Returns a trial for each other operation."""
    return [Trial(name, space[0], {"case": 1.0}) for name, space in SPACES.items() if name != without]


def test_the_best_of_what_runs_is_chosen_with_every_case_counting_alike():
    timer = fake_clock({0: 0.5, 3: 1.0, 4: 2.0}, [])
    trials = try_operation("kv_fill", iter([case(greedy=0)]), SPACE, timer, lambda line: None)
    assert trials[0].failed == "out of resource: shared memory"
    assert choose([*trials, *others()])["kv_fill"] == SPACE[3]
    # four times as fast in the short case outweighs 1.5 times as slow in the long one
    long_short = [Trial("kv_fill", SPACE[0], {"long": 100.0, "short": 4.0})]
    long_short += [Trial("kv_fill", SPACE[1], {"long": 150.0, "short": 1.0})]
    assert choose([*long_short, *others()])["kv_fill"] == SPACE[1]


def test_an_operation_of_which_nothing_runs_leaves_the_table_as_it_is():
    with pytest.raises(ValueError, match="no configuration of kv_fill could be run"):
        choose([Trial("kv_fill", SPACE[0], failed="no"), *others()])


@pytest.mark.skipif(DEVICE == "cuda", reason="there is a GPU")
def test_without_a_gpu_it_says_so_in_one_line_and_writes_nothing(tmp_path):
    before = TABLE.read_text()
    command = [sys.executable, "-m", "lab_kernels.tune", "--output", str(tmp_path / "tune.json")]
    done = subprocess.run(command, cwd=KERNELS, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "there is no CUDA device: nothing is tuned, and the table stays as it is\n"
    assert list(tmp_path.iterdir()) == []
    assert TABLE.read_text() == before


@pytest.mark.gpu
def test_on_a_gpu_the_clock_that_the_benchmark_reads_times_a_trial():
    from lab_kernels.bench.measure import time_on_gpu

    block = torch.zeros(1 << 20, device=DEVICE)
    one = Case("clone", block.clone, lambda: None, 1.0, 1.0, "memory")
    (trial,) = try_operation("kv_fill", iter([one]), SPACE[:1], time_on_gpu, lambda line: None)
    assert trial.failed is None
    assert trial.milliseconds["clone"] > 0
