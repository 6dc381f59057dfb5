"""Segments on disk: what comes back is what was written, and nothing else is ever believed."""

import errno
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from listening import listening

from reprise_vllm.reuse.disk import DiskTier
from reprise_vllm.reuse.messages import DiskFile

LOGGER = logging.getLogger("vllm.reprise")


def file_of(name: int, length: int = 8) -> DiskFile:
    return DiskFile(name, np.arange(length), b"tenant", 64, (b"one", b"two"), False, name)


def state_of(seed: int, length: int = 8) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return {
        "keys": torch.randn(2, length, 2, 4, generator=random).to(torch.bfloat16),
        "values": torch.randn(2, length, 2, 4, generator=random),
        "tokens": torch.randint(0, 100, (length,), generator=random, dtype=torch.int32),
    }


def tier(folder: Path, fingerprint: str = "model", rank: int = 0) -> DiskTier:
    return DiskTier(folder, fingerprint, rank, LOGGER)


def wait_for(condition: Callable[[], object], seconds: float = 10) -> object:
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until
        time.sleep(0.005)
    return value


def write(disk: DiskTier, *names: int) -> None:
    for name in names:
        disk.write(file_of(name), state_of(name))
        wait_for(disk.take_written)


def read(disk: DiskTier, name: int) -> dict[str, torch.Tensor] | None:
    disk.start_read(file_of(name))
    ((file, state),) = wait_for(disk.take_read)
    assert file.name == name
    return state


def test_what_was_written_comes_back_in_this_life_and_the_next(tmp_path):
    disk = tier(tmp_path)
    write(disk, 3, 7)
    disk.close()
    again = tier(tmp_path)
    restored = {file.name: (file, tokens) for file, tokens in again.restore()}
    assert set(restored) == {3, 7}
    file, tokens = restored[7]
    assert (file.namespace, file.position, file.prefixes, file.is_exact) == (b"tenant", 64, (b"one", b"two"), False)
    assert np.array_equal(tokens, state_of(7)["tokens"].numpy())
    state = read(again, 7)
    assert all(torch.equal(state[name], tensor) for name, tensor in state_of(7).items())
    again.close()


class Damaged(NamedTuple):
    name: str
    data: bytes


def _written_once() -> Damaged:
    with tempfile.TemporaryDirectory() as folder:
        disk = tier(Path(folder))
        write(disk, 5)
        disk.close()
        (path,) = Path(folder).glob("*.safetensors")
        return Damaged(path.name, path.read_bytes())


DAMAGED = _written_once()


class EndsWhenAskedTwice(Future):
    """A read that ends between the first and the second time somebody asks whether it has."""

    asked = 0

    def done(self) -> bool:
        self.asked += 1
        if self.asked == 2:
            self.set_result(None)
        return super().done()


def test_a_read_that_ends_while_ends_are_counted_is_given_sooner_or_later(tmp_path):
    disk = tier(tmp_path)
    disk._reading.append((file_of(3), EndsWhenAskedTwice()))
    given = [file.name for _ in range(3) for file, _ in disk.take_read()]
    assert given == [3]
    disk.close()


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def fill_with_noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 9)


@pytest.mark.parametrize("damage", [flip_a_bit, truncate, empty, fill_with_noise, Path.unlink])
def test_a_damaged_file_is_named_and_never_used(tmp_path, damage, caplog):
    disk = tier(tmp_path)
    write(disk, 5)
    (path,) = tmp_path.glob("*.safetensors")
    damage(path)
    with listening(caplog):
        assert read(disk, 5) is None
        assert list(tier(tmp_path).restore()) == []
    assert path.name in caplog.text


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 1 << 20), bit=st.integers(0, 7))
def test_whichever_bit_of_a_file_is_flipped_it_says_what_was_written_or_nothing(tmp_path_factory, place, bit):
    folder = tmp_path_factory.mktemp("flipped")
    path = folder / DAMAGED.name
    data = bytearray(DAMAGED.data)
    data[place % len(data)] ^= 1 << bit
    path.write_bytes(data)
    disk = tier(folder)
    for file, tokens in disk.restore():
        assert replace(file, slots=None) == replace(file_of(5), slots=None)
        assert np.array_equal(tokens, state_of(5)["tokens"].numpy())
    state = read(disk, 5)
    assert state is None or all(torch.equal(state[name], tensor) for name, tensor in state_of(5).items())
    disk.close()


def test_a_process_killed_while_it_writes_leaves_whole_files_or_none(tmp_path):
    """The real thing: SIGKILL at any moment, several lives after one another in one folder."""
    for life in range(6):
        writing = subprocess.Popen(
            [sys.executable, __file__, str(tmp_path), str(life * 1000)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert writing.stdout.readline() == "writing\n"
        time.sleep(0.01 * 2**life)
        writing.kill()
        writing.communicate()
    disk = tier(tmp_path)
    restored = {file.name: tokens for file, tokens in disk.restore()}
    assert len(restored) > 20
    for name, tokens in restored.items():
        assert np.array_equal(tokens, state_of(name)["tokens"].numpy())
        state = read(disk, name)
        assert all(torch.equal(state[part], tensor) for part, tensor in state_of(name).items())
    disk.close()


def write_until_killed(folder: Path, first: int) -> None:
    """What the process that is killed does."""
    disk = tier(folder)
    print("writing", flush=True)
    for name in range(first, first + 1000):
        disk.write(file_of(name), state_of(name))
        time.sleep(0.001)


def test_what_a_killed_process_had_half_written_is_cleared_away_once_nobody_can_be_writing_it(tmp_path):
    old, fresh, other_rank = (tmp_path / name for name in ("7.0.partial", "8.0.partial", "7.1.partial"))
    for path in (old, fresh, other_rank):
        path.write_bytes(b"half")
    for path in (old, other_rank):
        os.utime(path, (0, 0))
    tier(tmp_path).close()
    assert not old.exists() and fresh.exists() and other_rank.exists()


@pytest.mark.parametrize("other", [{"fingerprint": "another"}, {"rank": 1}])
def test_a_file_of_another_model_or_rank_is_not_used(tmp_path, other, caplog):
    disk = tier(tmp_path)
    write(disk, 5)
    with listening(caplog):
        assert list(tier(tmp_path, **other).restore()) == []
    if "fingerprint" in other:
        assert "is of another model or set-up" in caplog.text
        with listening(caplog):
            assert read(tier(tmp_path, **other), 5) is None


def test_a_file_of_rows_that_were_replaced_meanwhile_is_not_used(tmp_path, caplog):
    disk = tier(tmp_path)
    write(disk, 5)
    newer = replace(file_of(5), position=100, prefixes=(b"three",), is_exact=True)
    with listening(caplog):
        disk.start_read(newer)
        assert wait_for(disk.take_read) == [(newer, None)]
    assert "is out of date" in caplog.text


def test_a_full_disk_is_said_once_and_leaves_no_part_of_a_file(tmp_path, monkeypatch, caplog):
    disk = tier(tmp_path)

    def full(path: Path, data: bytes) -> None:
        with path.open("wb") as partial:
            partial.write(data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, listening(caplog):
        patch.setattr(Path, "write_bytes", full)
        for name in range(3):
            disk.write(file_of(name), state_of(name))
        disk.close()
    assert list(tmp_path.iterdir()) == []
    assert caplog.text.count("No space left on device") == 1
    again = tier(tmp_path)
    write(again, 4)
    assert read(again, 4) is not None


def test_a_dropped_segment_is_gone_even_if_its_write_was_under_way(tmp_path):
    disk = tier(tmp_path)
    write(disk, 1)
    disk.drop(1)
    assert list(tmp_path.iterdir()) == []
    disk.write(file_of(2), state_of(2))
    disk.drop(2)
    disk.close()
    assert list(tmp_path.iterdir()) == []


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]), int(sys.argv[2]))
