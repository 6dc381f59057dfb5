"""A worker's disk and shared store together: whose rows they take, and what the engine's thread does for them."""

import logging
import threading
import time

import numpy as np
import pytest
import torch

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import Lookup, RemoteFile, ReuseReport, TierOrders, digest_of
from reprise_reuse.host_store import HostStore, RowShape
from reprise_reuse.prompts.users import EVERYONE
from reprise_reuse.remote import remote_tier
from reprise_reuse.remote.remote_tier import SPARSE, RemoteTier
from reprise_reuse.remote.tiers import Tiers
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.segments import Grams
from reprise_reuse.stores.folder_store import FolderStore

LOGGER = logging.getLogger("vllm.reprise")
LENGTH, SEGMENTS = 80, 8


@pytest.fixture
def store() -> HostStore:
    shape = RowShape(2, 2, 4, torch.float32)
    store = HostStore(SEGMENTS * LENGTH, shape, KeyRotation(torch.zeros(64, 4), is_neox=True))
    slots = torch.arange(SEGMENTS * LENGTH)
    store.begin(slots, slots // LENGTH, slots.int(), slots.int())
    for layer in range(2):
        store.put(layer, slots, *torch.randn(2, len(slots), 2, 4))
    return store


def tokens_of(name: int) -> np.ndarray:
    return np.arange(name * LENGTH, (name + 1) * LENGTH, dtype=np.int32)


def file_of(name: int) -> RemoteFile:
    digest, slots = digest_of(tokens_of(name)), tokens_of(name).astype(np.int64)
    return RemoteFile(name, slots, b"", 0, (b"",), (b"u",), True, name, digest, EVERYONE, 5.0)


def lookup_of(name: int) -> Lookup:
    return Lookup(f"request {name}", b"", (EVERYONE,), Grams(tokens_of(name), SPARSE).anchors(0, LENGTH)[1], 5.0, 5.0)


def tend(tiers: Tiers, remote: TierOrders, done: str) -> ReuseReport:
    """Carries out orders. Returns the report once it has this."""
    report = ReuseReport()
    tiers.tend(TierOrders(is_reset=remote.is_reset, remote=remote), report)
    until = time.monotonic() + 10
    while not getattr(report, done):
        assert time.monotonic() < until
        time.sleep(0.002)
        tiers.tend(TierOrders(), report)
    return report


def wait_until_counted(tiers: Tiers, kind: str) -> ReuseReport:
    report, until = ReuseReport(), time.monotonic() + 10
    while not report.figures["remote", kind]:
        assert time.monotonic() < until
        time.sleep(0.002)
        tiers.report(report)
    return report


@pytest.mark.parametrize("has_disk", [True, False])
def test_a_model_that_cannot_be_identified_after_a_reset_neither_writes_nor_finds_as_the_earlier_one(
    tmp_path, store, has_disk
):
    is_broken = False

    def fingerprint() -> str:
        if is_broken:
            raise RuntimeError("CUDA error: out of memory")
        return "first"

    disk = DiskTier(tmp_path / "disk", fingerprint, 0, LOGGER) if has_disk else None
    known = fingerprint if disk is None else disk.fingerprint
    tiers = Tiers(disk, RemoteTier(FolderStore(tmp_path / "store"), known, LOGGER), store, LOGGER)
    tiers.write(TierOrders(remote=TierOrders(writes=[file_of(1)])))
    wait_until_counted(tiers, "written")
    before = {one for one in (tmp_path / "store").rglob("*") if one.is_file()}
    is_broken = True
    orders = TierOrders(is_reset=True, lookups=[lookup_of(1)], fetches=[file_of(1)])
    report = tend(tiers, orders, "found")
    assert report.found == [("request 1", [])] and report.lost == {1}
    tiers.write(TierOrders(writes=[file_of(2)], remote=TierOrders(writes=[file_of(2)])))
    tiers.close()
    assert {one for one in (tmp_path / "store").rglob("*") if one.is_file()} == before
    assert not list(tmp_path.glob("disk/*"))


class StuckStoreDouble(FolderStore):
    """A folder whose writes hang until they may go on, and then fail."""

    def __init__(self, folder: object) -> None:
        super().__init__(folder)
        self.may_go_on = threading.Event()

    def put(self, key: str, value: bytes) -> None:
        self.may_go_on.wait(10)
        raise OSError(28, "No space left on device")


def test_rows_are_copied_only_if_there_is_room_for_them_and_what_is_not_written_is_named(tmp_path, store, monkeypatch):
    copied, real = [], store.state
    monkeypatch.setattr(store, "state", lambda slots: copied.append(int(slots[0]) // LENGTH) or real(slots))
    size = sum(tensor.nbytes for tensor in real(torch.arange(LENGTH)).values())
    monkeypatch.setattr(remote_tier, "MOST_BYTES", 2 * size)
    stuck = StuckStoreDouble(tmp_path)
    tiers = Tiers(None, remote := RemoteTier(stuck, lambda: "model", LOGGER), store, LOGGER)
    tiers.write(TierOrders(remote=TierOrders(writes=[file_of(name) for name in range(4)])))
    assert copied == [0, 1] and wait_until_counted(tiers, "unwritten").unshared == {2, 3}
    stuck.may_go_on.set()
    report, until = ReuseReport(), time.monotonic() + 10
    while report.unshared != {0, 1} and time.monotonic() < until:
        tiers.report(report)
    assert report.unshared == {0, 1}
    for _ in range(3):
        remote._writing.failed("the store is gone", time.monotonic())
    tiers.write(TierOrders(remote=TierOrders(writes=[file_of(5)])))
    assert copied == [0, 1] and wait_until_counted(tiers, "unwritten").unshared == {5}
