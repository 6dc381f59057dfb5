"""Segments on disk: what is read is what was written, and anything else is refused."""

import errno
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
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

from reprise_reuse.disk import disk_tier, segment_file
from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import DiskFile, ReuseReport, digest_of

LOGGER = logging.getLogger("vllm.reprise")


def file_of(name: int, length: int = 8) -> DiskFile:
    digest = digest_of(state_of(name, length)["tokens"].numpy())
    return DiskFile(name, np.arange(length), b"tenant", 64, (b"one", b"two"), (b"user", b""), False, name, digest)


def state_of(seed: int, length: int = 8) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return {
        "keys": torch.randn(2, length, 2, 4, generator=random).to(torch.bfloat16),
        "values": torch.randn(2, length, 2, 4, generator=random),
        "tokens": torch.randint(0, 100, (length,), generator=random, dtype=torch.int32),
    }


def tier(folder: Path, fingerprint: str = "model", rank: int = 0) -> DiskTier:
    return DiskTier(folder, lambda: fingerprint, rank, LOGGER)


def wait_for(condition: Callable[[], object], seconds: float = 10) -> object:
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until
        time.sleep(0.005)
    return value


def reported(disk: DiskTier) -> ReuseReport:
    disk.report(report := ReuseReport())
    return report


def write(disk: DiskTier, *names: int) -> None:
    for name in names:
        disk.write(file_of(name), state_of(name))
        wait_for(lambda: reported(disk).written)


def read(disk: DiskTier, name: int, length: int = 8) -> dict[str, torch.Tensor] | None:
    disk.start_read(file_of(name, length))
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
    assert (file.namespace, file.position, file.is_exact) == (b"tenant", 64, False)
    assert (file.prefixes, file.users) == ((b"one", b"two"), (b"user", b""))
    assert np.array_equal(tokens, state_of(7)["tokens"].numpy())
    state = read(again, 7)
    assert all(torch.equal(state[name], tensor) for name, tensor in state_of(7).items())
    again.close()


def test_what_is_written_behind_a_renewal_is_the_model_s_that_the_engine_has_by_then(tmp_path, monkeypatch):
    models = iter(["first", "second"])
    disk = DiskTier(tmp_path, lambda: next(models), 0, LOGGER)
    may_write, real = threading.Event(), segment_file.SegmentFiles.pack

    def wait_and_pack(*arguments: object) -> bytes:
        may_write.wait()
        return real(*arguments)

    monkeypatch.setattr(segment_file.SegmentFiles, "pack", wait_and_pack)
    disk.write(file_of(1), state_of(1))
    disk.write(file_of(2), state_of(2))
    disk.renew()
    disk.write(file_of(3), state_of(3))
    may_write.set()
    disk.close()
    for model, names in (("first", {1, 2}), ("second", {3})):
        again = tier(tmp_path, model)
        assert {file.name for file, _ in again.restore()} == names
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
    """A read that finishes between the first and the second call of `done`."""

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


def flip_a_bit_of_a_row(path: Path) -> None:
    data, row = path.read_bytes(), state_of(5)["values"].numpy().tobytes()
    place = data.index(row)
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


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
        # damaged rows are detected only when they are read
        assert {file.name for file, _ in tier(tmp_path).restore()} <= {5}
        assert read(disk, 5) is None
    assert path.name in caplog.text


@pytest.mark.parametrize("damage", [truncate, empty, fill_with_noise])
def test_a_file_without_a_whole_head_is_not_restored(tmp_path, damage):
    write(tier(tmp_path), 5)
    (path,) = tmp_path.glob("*.safetensors")
    damage(path)
    assert list(tier(tmp_path).restore()) == []


def test_at_start_only_heads_and_tokens_are_read_and_a_damaged_row_is_found_when_it_is_fetched(tmp_path, caplog):
    write(tier(tmp_path), 5)
    (path,) = tmp_path.glob("*.safetensors")
    flip_a_bit_of_a_row(path)
    disk = tier(tmp_path)
    ((file, tokens),) = disk.restore()
    assert file.name == 5 and np.array_equal(tokens, state_of(5)["tokens"].numpy())
    with listening(caplog):
        assert read(disk, 5) is None
    assert f"{path.name} is damaged and is not used" in caplog.text


def swap(data: bytearray, one: int, other: int, length: int) -> None:
    data[one : one + length], data[other : other + length] = data[other : other + length], data[one : one + length]


@pytest.mark.parametrize(("distance", "length"), [(8, 8), (32 << 10, 32 << 10), (32 << 10, 8), (96 << 10, 12)])
def test_rows_in_another_place_are_damaged(distance, length):
    state = {"keys": torch.randn(2, 128, 256), "tokens": torch.arange(128, dtype=torch.int32)}
    file = replace(file_of(5), tokens_digest=digest_of(state["tokens"].numpy()))
    files = segment_file.SegmentFiles("model")
    data = bytearray(files.pack(file, state))
    assert torch.equal(files.unpack(bytes(data), file)["keys"], state["keys"])
    begin = len(data) - (256 << 10) - 512
    swap(data, begin, begin + distance, length)
    with pytest.raises(segment_file.RefusedError, match="is damaged"):
        files.unpack(bytes(data), file)


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
    """Uses a real SIGKILL, after different delays, several times in a row in one folder."""
    subprocess.run(
        [sys.executable, __file__, str(tmp_path)], check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    disk = tier(tmp_path)
    restored = {file.name: tokens for file, tokens in disk.restore()}
    assert len(restored) > 20
    for name, tokens in restored.items():
        assert np.array_equal(tokens, state_of(name)["tokens"].numpy())
        state = read(disk, name)
        assert all(torch.equal(state[part], tensor) for part, tensor in state_of(name).items())
    disk.close()


def write_and_be_killed(folder: Path) -> None:
    """Runs in a process without threads, which can be copied: each copy writes, and is killed."""
    for life in range(6):
        told, tell = os.pipe()
        writer = os.fork()
        if writer == 0:
            disk = tier(folder)
            os.write(tell, b".")
            for name in range(life * 1000, life * 1000 + 1000):
                disk.write(file_of(name), state_of(name))
                time.sleep(0.001)
        os.read(told, 1)
        time.sleep(0.01 * 2**life)
        os.kill(writer, signal.SIGKILL)
        _, status = os.waitpid(writer, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL


def test_what_a_killed_process_had_half_written_is_cleared_away_once_nobody_can_be_writing_it(tmp_path):
    older, old, fresh, other_rank, not_ours = paths = [
        tmp_path / name
        for name in (
            f"{7:020d}.0.partial",
            f"{7:020d}.0.ab_1.partial",
            f"{8:020d}.0.partial",
            f"{7:020d}.1.ab_1.partial",
            "7.0.partial",
        )
    ]
    for path in paths:
        path.write_bytes(b"half")
        if path != fresh:
            os.utime(path, (0, 0))
    tier(tmp_path).close()
    assert not older.exists() and not old.exists() and fresh.exists() and other_rank.exists() and not_ours.exists()


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


def test_many_files_of_another_model_are_told_in_a_few_lines_with_their_size(tmp_path, caplog):
    write(tier(tmp_path), *range(1, 9))
    disk = tier(tmp_path, "another")
    with listening(caplog):
        assert list(disk.restore()) == []
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert disk.unused_bytes == size and reported(disk).refused == 8
    assert caplog.text.count("is of another model or set-up") == 5
    assert f"8 unused files in {tmp_path} take {size} of disk_bytes" in caplog.text


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

    def full(partial: str, path: Path) -> None:
        assert Path(partial).exists()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, listening(caplog):
        patch.setattr(os, "replace", full)
        for name in range(3):
            disk.write(file_of(name), state_of(name))
        disk.close()
    assert list(tmp_path.iterdir()) == []
    assert caplog.text.count("No space left on device") == 1
    again = tier(tmp_path)
    write(again, 4)
    assert read(again, 4) is not None


def test_what_a_slow_disk_leaves_out_is_counted(tmp_path, monkeypatch):
    going_on = threading.Event()
    monkeypatch.setattr(disk_tier, "write_private", lambda *_: going_on.wait(10))
    size = sum(tensor.nbytes for tensor in state_of(0).values())
    monkeypatch.setattr(disk_tier, "MOST_BYTES", 256 * size)
    disk = tier(tmp_path)
    for name in range(300):
        if disk.has_room(file_of(name)):
            disk.write(file_of(name), state_of(name))
    assert reported(disk).unwritten == 44 and reported(disk).unwritten == 0
    going_on.set()
    wait_for(lambda: reported(disk).written)
    assert disk.has_room(file_of(300))
    disk.close()


def test_a_folder_that_was_removed_is_made_again_and_said(tmp_path, caplog):
    folder = tmp_path / "disk"
    disk = tier(folder)
    shutil.rmtree(folder)
    with listening(caplog):
        write(disk, 1)
    assert "was removed, it is made again" in caplog.text
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert read(disk, 1) is not None
    disk.close()


def test_a_disk_that_answers_no_read_is_given_up(tmp_path, monkeypatch):
    disk = tier(tmp_path)
    write(disk, 1, 2)
    answer = threading.Event()
    monkeypatch.setattr(disk._files, "read", lambda *_: answer.wait())
    monkeypatch.setattr(disk_tier, "_LONGEST_WITHOUT_READ", 0.2)
    disk.start_read(file_of(1))
    assert disk.take_read() == []
    time.sleep(0.3)
    with pytest.raises(TimeoutError, match="has answered no read"):
        disk.take_read()
    answer.set()
    disk.close()


def test_a_dropped_segment_is_gone_even_if_its_write_was_under_way(tmp_path):
    disk = tier(tmp_path)
    write(disk, 1)
    disk.drop(1)
    wait_for(lambda: list(tmp_path.iterdir()) == [])
    disk.write(file_of(2), state_of(2))
    disk.drop(2)
    disk.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_again_behind_a_drop_stays(tmp_path):
    disk = tier(tmp_path)
    disk.write(file_of(1), state_of(1))
    disk.drop(1)
    disk.write(file_of(1), state_of(1))
    disk.close()
    again = tier(tmp_path)
    assert [file.name for file, _ in again.restore()] == [1]
    again.close()


def test_a_file_that_cannot_be_removed_is_said_and_costs_nothing_else(tmp_path, monkeypatch, caplog):
    disk = tier(tmp_path)
    write(disk, 1, 2, 3)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch, listening(caplog):
        patch.setattr(Path, "unlink", refuse)
        disk.drop(1)
        disk.drop(2)
        wait_for(lambda: disk._waiting.empty() and caplog.text)
    assert caplog.text.count("Read-only file system") == 1
    assert read(disk, 3) is not None
    disk.close()


def test_another_segments_file_that_was_copied_over_it_is_refused_by_name(tmp_path, caplog):
    disk = tier(tmp_path)
    disk.write(file_of(1, 8), state_of(1, 8))
    disk.write(file_of(2, 12), state_of(2, 12))
    wait_for(lambda: len(list(tmp_path.glob("*.safetensors"))) == 2)
    one, other = sorted(tmp_path.glob("*.safetensors"))
    shutil.copy(one, other)
    with listening(caplog):
        assert read(disk, 2, length=12) is None
    assert f"{other.name} is out of date or another segment's" in caplog.text
    disk.close()


def test_a_read_that_fails_in_an_unforeseen_way_costs_its_file(tmp_path, monkeypatch, caplog):
    disk = tier(tmp_path)
    write(disk, 1)
    with monkeypatch.context() as patch, listening(caplog):
        patch.setattr(segment_file, "_checksum", lambda *_: 1 / 0)
        assert read(disk, 1) is None
    assert "cannot be read (division by zero) and is not used" in caplog.text
    assert read(disk, 1) is not None
    disk.close()


def test_the_writer_outlives_a_segment_that_cannot_be_written(tmp_path, caplog):
    disk = tier(tmp_path)
    shared = state_of(1)["keys"]
    with listening(caplog):
        # safetensors refuses tensors that share memory, with a RuntimeError
        disk.write(file_of(1), {**state_of(1), "keys": shared, "again": shared})
        assert wait_for(lambda: reported(disk).unwritten) == 1
        write(disk, 2)
    assert "segments cannot be written to" in caplog.text
    disk.close()
    assert {file.name for file, _ in tier(tmp_path).restore()} == {2}


def test_closing_ends_though_a_write_does_not(tmp_path, monkeypatch, caplog):
    disk = tier(tmp_path)
    goes_on = threading.Event()
    monkeypatch.setattr(disk_tier, "write_private", lambda *_: goes_on.wait(60))
    for name in range(300):
        disk.write(file_of(name), state_of(name))
    begun = time.monotonic()
    with listening(caplog):
        disk.close(0.2)
    assert time.monotonic() - begun < 10
    assert "not all segments were written" in caplog.text
    goes_on.set()


@pytest.mark.parametrize(
    "name",
    [
        "backup-of-5.0.safetensors",
        "5.0.safetensors",
        f"{1 << 63:020d}.0.safetensors",
        f"{(1 << 63) - 1:020d}.0.safetensors",
        f"{1 << 62:020d}.0.safetensors",
        f"{5:020d}.00.safetensors",
        "notes.txt",
    ],
)
def test_a_file_whose_name_is_not_the_tiers_is_left_alone_and_said(tmp_path, name, caplog):
    disk = tier(tmp_path)
    write(disk, 5)
    (path,) = tmp_path.glob("*.safetensors")
    odd = tmp_path / name
    shutil.copy(path, odd)
    with listening(caplog):
        assert [file.name for file, _ in tier(tmp_path).restore()] == [5]
    assert f"are left alone: {name}" in caplog.text
    assert odd.exists()


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to(path.with_name("elsewhere"))], ids=["pipe", "link"]
)
def test_what_is_no_plain_file_is_refused_by_name_and_not_waited_for(tmp_path, make, caplog):
    disk = tier(tmp_path)
    write(disk, 5)
    (path,) = tmp_path.glob("*.safetensors")
    path.rename(path.with_name("elsewhere"))
    make(path)
    with listening(caplog):
        assert read(disk, 5) is None
        assert list(tier(tmp_path).restore()) == []
    assert caplog.text.count(f"{path.name} is no plain file and is not used") == 2


def test_files_of_other_ranks_are_not_called_odd(tmp_path, caplog):
    write(tier(tmp_path, rank=1), 5)
    with listening(caplog):
        assert list(tier(tmp_path).restore()) == []
    assert "left alone" not in caplog.text


def test_the_folder_and_its_files_are_their_users_alone(tmp_path):
    folder = tmp_path / "segments"
    before = os.umask(0)
    try:
        write(tier(folder), 5)
    finally:
        os.umask(before)
    (path,) = folder.iterdir()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, path)] == [0o700, 0o600]


def test_a_folder_that_others_may_enter_is_said_and_left_as_it_is(tmp_path, caplog):
    tmp_path.chmod(0o755)
    with listening(caplog):
        tier(tmp_path)
    assert f"other users have access to {tmp_path}" in caplog.text
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_tilde_is_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tier(Path("~/segments")), 5)
    assert len(list((tmp_path / "segments").iterdir())) == 1


if __name__ == "__main__":
    write_and_be_killed(Path(sys.argv[1]))
