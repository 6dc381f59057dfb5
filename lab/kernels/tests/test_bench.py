"""The benchmark's cases are correct and its report is accurate; only a GPU can measure times."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cases import DEVICE
from fake_flashinfer import FakeDecode, fake_flashinfer

from lab_kernels.bench.__main__ import ALL_CASES, measure_all
from lab_kernels.bench.attention_cases import decode_cases, prefill_cases
from lab_kernels.bench.case import Case, Shape
from lab_kernels.bench.measure import measure, measure_ceilings
from lab_kernels.bench.report import render

TINY = Shape(
    q_heads=4, kv_heads=2, head_dim=16, context=64, question=3, layers=1, vocabulary=300, ratios=(0.25,),
    batches=(1, 2), dtype=torch.float32, device=DEVICE,
)  # fmt: skip
FLASHINFER = {"FlashInfer, same positions", "FlashInfer, same pages"}
KERNELS = Path(__file__).resolve().parent.parent


def run_once(run, graph: bool) -> float:
    """Replaces a GPU's clock: always one millisecond."""
    run()
    return 1.0


@pytest.mark.parametrize("make", ALL_CASES, ids=lambda make: make.__name__)
def test_every_case_passes_its_check_and_runs_beside_its_rivals(make):
    ceilings = dict.fromkeys(("flops", "memory", "read", "to_host", "to_device"), 1e12)
    rows = measure(make(TINY), ceilings, run_once, lambda line: None)
    assert rows
    for row in rows:
        # FlexAttention needs a compiler, flash and cuDNN need a GPU, and FlashInfer is not installed
        dense = {"SDPA flash, dense", "SDPA cuDNN, dense"}
        assert set(row.absent) <= dense | {"FlexAttention, same positions"} | FLASHINFER
        assert row.rivals or make.__name__ == "prefill_cases"


@pytest.mark.skipif(DEVICE == "cuda", reason="there is a GPU: the real one runs")
@pytest.mark.parametrize("make", [prefill_cases, decode_cases], ids=lambda make: make.__name__)
def test_flashinfer_is_asked_for_what_our_kernels_compute_and_left_out_by_name_where_it_is_not(make, monkeypatch):
    ceilings = {"flops": 1e12, "read": 1e12}
    monkeypatch.setitem(sys.modules, "flashinfer", fake_flashinfer())
    rows = measure(make(TINY), ceilings, run_once, lambda line: None)
    assert all(set(row.rivals) & FLASHINFER for row in rows), [row.absent for row in rows]
    monkeypatch.setitem(sys.modules, "flashinfer", None)
    rows = measure(make(TINY), ceilings, run_once, lambda line: None)
    for row in rows:
        (name,) = set(row.absent) & FLASHINFER
        assert "flashinfer" in row.absent[name]


@pytest.mark.skipif(DEVICE == "cuda", reason="there is a GPU: the real one runs")
def test_a_rival_that_computes_something_else_gets_no_number(monkeypatch):
    module = fake_flashinfer()
    module.BatchDecodeWithPagedKVCacheWrapper = type("Wrong", (FakeDecode,), {"run": lambda self, q, kv: q})
    monkeypatch.setitem(sys.modules, "flashinfer", module)
    rows = measure(decode_cases(TINY), {"read": 1e12}, run_once, lambda line: None)
    assert all("what FlashInfer computes" in row.absent["FlashInfer, same pages"] for row in rows)


def test_a_wrong_kernel_gets_no_number():
    def check() -> None:
        raise AssertionError("wrong")

    timed = []
    case = Case("wrong", lambda: None, check, 1.0, 1.0, "memory")
    with pytest.raises(AssertionError, match="wrong"):
        measure([case], {"memory": 1.0}, lambda run, graph: timed.append(run) or 1.0, lambda line: None)
    assert timed == []


def test_rates_shares_and_ratios_are_those_of_the_work_and_the_times():
    def fails() -> None:
        raise RuntimeError("no such backend\nand more")

    times = {"ours": 2.0, "theirs": 5.0}
    names = {}

    def named(name: str):
        names[name] = lambda: name
        return names[name]

    case = Case(
        "case", named("ours"), lambda: None, 4e12, 8e9, "flops", {"theirs": lambda: named("theirs"), "gone": fails}
    )
    rows = measure([case], {"flops": 4e15}, lambda run, graph: times[run()], lambda line: None)
    assert render(rows[0]) == (
        "| case | 2 | 2,000 TFLOP/s | 50% | theirs: 5 ms, 2.50 times; gone: could not run (no such backend) |\n"
    )


def test_ceilings_are_of_the_work_that_was_timed():
    ceilings = measure_ceilings(run_once, size=16, device=DEVICE)
    block, host = 32 * 16**2 * 1e3, 2 * 16**2 * 1e3
    assert ceilings == {
        "flops": 2 * 16**3 * 1e3, "memory": 2 * block, "read": block, "to_host": host, "to_device": host,
    }  # fmt: skip


def test_a_case_that_fails_is_named_and_loses_no_row_before_or_behind_it():
    def fails() -> None:
        raise RuntimeError("illegal address\nand more")

    def good_cases(shape: Shape):
        yield Case("first", lambda: None, lambda: None, 1.0, 1.0, "memory")
        yield Case("bad", fails, lambda: None, 1.0, 1.0, "memory")
        yield Case("third", lambda: None, lambda: None, 1.0, 1.0, "memory")
        raise RuntimeError("no room")

    def no_cases(shape: Shape):
        raise RuntimeError("no room at all")
        yield

    kept = []
    figures = measure_all(
        [no_cases, good_cases], TINY, {"memory": 1.0}, run_once, lambda now: kept.append([row.name for row in now.rows])
    )
    assert kept == [[], ["first"], ["first"], ["first", "third"], ["first", "third"]]
    assert figures.failed == {
        "no_cases": "no room at all", "bad": "illegal address", "what comes after third": "no room",
    }  # fmt: skip


@pytest.mark.skipif(DEVICE == "cuda", reason="there is a GPU")
def test_without_a_gpu_it_says_so_and_writes_no_figures(tmp_path):
    command = [sys.executable, "-m", "lab_kernels.bench", "--output", str(tmp_path / "figures.json")]
    done = subprocess.run(command, cwd=KERNELS, capture_output=True, text=True)
    assert done.returncode == 1
    assert "there is no CUDA device" in done.stderr
    assert list(tmp_path.iterdir()) == []
