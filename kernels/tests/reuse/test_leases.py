"""Several workers that preprocess one corpus: each part is computed by one, and none is left."""

import threading
from pathlib import Path

import pytest

from reprise_reuse.preprocess.prompts import FailedError, Prompt
from reprise_reuse.preprocess.run import Leases
from reprise_reuse.stores.folder_store import FolderStore

PARTS = [[Prompt("", f"{part} {number}") for number in range(3)] for part in range(12)]


class Clock:
    """Seconds that pass only when somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def leases(folder: Path, clock: Clock) -> Leases:
    return Leases(FolderStore(folder), clock, clock.sleep)


def test_workers_at_work_at_once_compute_all_parts_and_hardly_any_twice(tmp_path):
    clock, computed = Clock(), []

    def work() -> None:
        for part in leases(tmp_path, clock).share(PARTS, ["model"]):
            computed.append(part[0].kept)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert set(computed) == {part[0].kept for part in PARTS}
    assert len(computed) <= 3 * len(PARTS)


def test_a_part_that_another_computes_is_left_to_it_and_what_is_done_stays_done(tmp_path):
    clock = Clock()
    one = leases(tmp_path, clock).share(PARTS, ["model"])
    first = next(one)
    others = leases(tmp_path, clock).share(PARTS, ["model"])
    computed = [next(others) for _ in range(len(PARTS) - 1)]
    assert [first, *computed] == PARTS
    assert list(leases(tmp_path, clock).share(PARTS, ["other model"])) == PARTS
    assert list(leases(tmp_path, clock).share(PARTS, ["other model"])) == []


def test_the_part_of_a_worker_that_was_not_heard_of_is_computed_by_another(tmp_path):
    clock = Clock()
    gone = leases(tmp_path, clock).share(PARTS, ["model"])
    part = next(gone)
    assert list(leases(tmp_path, clock).share(PARTS[1:], ["model"])) == PARTS[1:]
    began, told = clock.now, []
    last = Leases(FolderStore(tmp_path), clock, clock.sleep, lambda parts, until: told.append((parts, until)))
    assert list(last.share(PARTS, ["model"])) == [part]
    assert 600 <= clock.now - began < 620
    # that it waits is said once
    assert told == [(1, began + 600)] and last.done_before == len(PARTS) - 1


def test_a_worker_that_is_at_work_for_long_keeps_its_part_and_one_that_fails_leaves_it_at_once(tmp_path):
    clock = Clock()
    slow = leases(tmp_path, clock)
    held = slow.share(PARTS[:1], ["model"])
    part = next(held)
    for _ in range(20):
        clock.sleep(200)
        slow.renew()
    other = leases(tmp_path, clock)
    began = clock.now
    slow.release()
    assert next(other.share(PARTS[:1], ["model"])) == part and clock.now == began


def test_a_value_that_is_no_lease_is_nobody_s_and_a_store_that_fails_is_named(tmp_path):
    clock = Clock()
    for value in (b"", b"{}", b"[1]", b'["a", "b"]', b"\xff"):
        one = leases(tmp_path / value.hex(), clock)
        (part,) = one.share(PARTS[:1], ["model"])
        (file,) = (path for path in (tmp_path / value.hex()).rglob("*") if path.is_file())
        file.write_bytes(value)
        assert list(leases(tmp_path / value.hex(), clock).share(PARTS[:1], ["model"])) == [part]
    (tmp_path / "file").touch()
    with pytest.raises(FailedError, match=r"^--share: .*Not a directory"):
        next(leases(tmp_path / "file", clock).share(PARTS, ["model"]))
