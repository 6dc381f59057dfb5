"""A worker's rows on disk: each fetch is answered, and a fault affects only its own file."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from listening import listening

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import DiskFile, digest_of
from reprise_reuse.disk.segment_file import SegmentFiles
from reprise_reuse.host_store import HostStore, RowShape
from reprise_reuse.remote.tiers import TierRows, Tiers
from reprise_reuse.rotation import KeyRotation
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport

LOGGER = logging.getLogger("vllm.reprise")
LENGTH = 8


def reported(tier: DiskTier) -> WorkerReport:
    report = WorkerReport()
    tier.report(report)
    return report


@pytest.fixture
def store() -> HostStore:
    store = HostStore(4 * LENGTH, RowShape(2, 2, 4, torch.float32), KeyRotation(torch.zeros(64, 4), is_neox=True))
    for name in range(4):
        slots = torch.arange(name * LENGTH, (name + 1) * LENGTH)
        store.begin(slots, name, slots.int(), slots.int())
        for layer in range(2):
            store.put(layer, slots, *torch.randn(2, LENGTH, 2, 4))
    return store


@pytest.fixture
def tier(tmp_path: Path) -> DiskTier:
    return DiskTier(tmp_path, lambda: "model", 0, LOGGER)


@pytest.fixture
def rows(tier: DiskTier, store: HostStore) -> TierRows:
    """Rows whose segments 1, 2 and 3 are only on disk."""
    rows = TierRows(tier, store, LOGGER)
    for name in (1, 2, 3):
        rows.write(file_of(name))
        until(lambda: reported(tier).written)
        store.forget(slots_of(name))
    return rows


def slots_of(name: int) -> torch.Tensor:
    return torch.arange(name * LENGTH, (name + 1) * LENGTH)


def file_of(name: int) -> DiskFile:
    slots = slots_of(name)
    return DiskFile(name, slots.numpy(), b"", 0, (b"",), (b"",), True, name, digest_of(slots.int().numpy()))


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def fetch(rows: TierRows, *names: int, dropped: int | None = None) -> WorkerReport:
    """Fetches segments. Returns the report once all fetches are answered."""
    report = WorkerReport()
    rows.tend(ReuseStep(fetches=[file_of(name) for name in names], dropped_files=[dropped] if dropped else []), report)

    def are_answered() -> bool:
        rows.tend(ReuseStep(), report)
        return report.fetched == dict.fromkeys(names, 1)

    until(are_answered)
    return report


def is_there(store: HostStore, name: int) -> bool:
    return store.holds(slots_of(name).numpy(), name, slots_of(name).int().numpy())


def test_what_is_fetched_comes_back_to_its_slots(rows, store):
    assert fetch(rows, 1, 2).lost == set()
    assert is_there(store, 1) and is_there(store, 2) and not is_there(store, 3)


def test_a_damaged_file_is_fetched_and_lost_and_the_next_is_read(rows, store, tier, tmp_path):
    next(tmp_path.glob("*1.0.safetensors")).write_bytes(b"damaged")
    assert fetch(rows, 1, 2).lost == {1}
    assert not is_there(store, 1) and is_there(store, 2)
    assert (reported(tier).refused, reported(tier).refused) == (1, 0)


def restored(tier: DiskTier, store: HostStore) -> WorkerReport:
    report = WorkerReport()
    Tiers(tier, None, store, LOGGER).restore(report)
    return report


@pytest.mark.usefixtures("rows")
def test_files_refused_at_the_start_are_counted(tier, store, tmp_path):
    next(tmp_path.glob("*1.0.safetensors")).write_bytes(b"damaged")
    report = restored(tier, store)
    assert sorted(file.name for file, _ in report.restored) == [2, 3]
    assert (reported(tier).refused, report.unused_bytes) == (1, len(b"damaged"))


def test_rows_that_do_not_fit_are_fetched_and_lost(rows, store, monkeypatch, caplog):
    real = store.load_state

    def load_state(slots: torch.Tensor, owner: int, state: dict[str, torch.Tensor]) -> None:
        if owner == 1:
            raise RuntimeError("shape mismatch")
        real(slots, owner, state)

    monkeypatch.setattr(store, "load_state", load_state)
    with listening(caplog):
        assert fetch(rows, 1, 2).lost == {1}
    assert "shape mismatch" in caplog.text and is_there(store, 2)


def test_a_disk_that_is_given_up_answers_what_waits_and_all_that_comes(rows, store, tier, monkeypatch, caplog):
    with monkeypatch.context() as patch, listening(caplog):
        patch.setattr(tier, "take_read", lambda: [])
        waiting = WorkerReport()
        rows.tend(ReuseStep(fetches=[file_of(1)]), waiting)
        assert waiting.is_empty

        def start_read(_: DiskFile) -> None:
            raise RuntimeError("can't start new thread")

        patch.setattr(tier, "start_read", start_read)
        rows.tend(ReuseStep(fetches=[file_of(2)]), waiting)
    assert (waiting.fetched, waiting.lost) == ({1: 1, 2: 1}, {1, 2})
    assert fetch(rows, 3, dropped=1).lost == {3}
    assert caplog.text.count("neither read from disk nor written there") == 1


@pytest.mark.usefixtures("rows")
def test_files_that_cannot_be_listed_cost_the_files(tier, store, monkeypatch, caplog):
    def restore() -> None:
        raise OSError("Input/output error")

    assert sorted(file.name for file, _ in restored(tier, store).restored) == [1, 2, 3]
    monkeypatch.setattr(tier, "restore", restore)
    with listening(caplog):
        assert restored(tier, store).restored == []
    assert "no segments are restored" in caplog.text


def test_rows_that_meanwhile_are_another_segments_are_not_written(rows, store, tier, tmp_path):
    store.begin(slots_of(0), 9, slots_of(0).int(), slots_of(0).int())
    rows.write(file_of(0))
    tier.close()
    assert not np.any([path.name.startswith(f"{0:020d}") for path in tmp_path.iterdir()])


def test_what_is_being_read_when_the_store_is_emptied_is_lost(rows, store, monkeypatch):
    may_read, real = threading.Event(), SegmentFiles.read

    def wait_and_read(*arguments: object) -> object:
        may_read.wait()
        return real(*arguments)

    monkeypatch.setattr(SegmentFiles, "read", wait_and_read)
    report = WorkerReport()
    rows.tend(ReuseStep(fetches=[file_of(1)]), report)
    rows.tend(ReuseStep(is_reset=True, fetches=[file_of(2)]), report)
    may_read.set()

    def are_answered() -> bool:
        rows.tend(ReuseStep(), report)
        return len(report.fetched) == 2

    until(are_answered)
    assert report.lost == {1} and not is_there(store, 1) and is_there(store, 2)
