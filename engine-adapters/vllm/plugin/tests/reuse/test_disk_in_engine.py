"""Disk faults under a real engine: every request is answered, whatever happens to the files."""

import errno
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from listening import listening
from reuse_model import ReusingEngine, make_model
from reuse_prompts import QUESTION, SYSTEM, full_attention, said, tokens
from safetensors import safe_open

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.segments import Segment
from reprise_vllm.reuse.messages import WorkerReport

ROW = 2 * 3 * 2 * 32 * 4 + 20
ODD = "backup-of-5.0.safetensors"
DOCUMENTS = [tokens(5000 + i, 160 + 20 * (i % 3)) for i in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[ReusingEngine]:
    """An engine whose host memory holds three documents, and whose disk holds nine."""
    (folder / "disk").mkdir()
    (folder / "disk" / ODD).write_bytes(b"")
    reuse = {"host_bytes": 800 * ROW, "disk": str(folder / "disk"), "disk_bytes": 2000 * ROW}
    engine = ReusingEngine(make_model(folder / "model"), reuse)
    yield engine
    engine.core.shutdown()


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fails the test if its block takes too long, so that an unanswered request does not hang the whole run."""

    def stop(*_: object) -> None:
        # `fail` raises no `Exception`, which the plugin would catch
        pytest.fail("nobody answers")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fill(engine: ReusingEngine) -> list[Segment]:
    """Has all documents computed. Returns the segments that are only on disk afterwards."""
    engine.reset()
    for document in DOCUMENTS:
        engine.ask([[*tokens(0, SYSTEM), *document, *tokens(1, QUESTION)]])
    until = time.monotonic() + 20
    while len(left := on_disk_alone(engine)) < 3:
        assert time.monotonic() < until
        engine.ask([[1, 2, 3]])
    return left


def on_disk_alone(engine: ReusingEngine) -> list[Segment]:
    segments = engine.reuse._catalogue._segments.values()
    return [one for one in segments if one.slots is None and one.is_on_disk and len(one) > 100]


def is_held(engine: ReusingEngine, segment: Segment) -> bool:
    return engine.reuse._catalogue.get(segment.name) is segment


def ask_for(engine: ReusingEngine, segment: Segment) -> None:
    """Sends a prompt that has the segment at another position. It must be answered correctly."""
    moved = [*tokens(0, SYSTEM), *tokens(8, 77), *segment.tokens.tolist(), *tokens(2, QUESTION)]
    with within(60):
        answer = engine.ask([moved], {"reuse": 1.0})[0]
    assert said(answer) == said(full_attention(engine, moved))


def models_of_files(engine: ReusingEngine, folder: Path) -> set[str]:
    """Returns the fingerprints of the models whose rows the files hold, after all queued writes and removals."""
    disk = folder / "disk"
    until = time.monotonic() + 20
    while {path.name for path in disk.iterdir()} != {ODD, *names_on_disk(engine)}:
        assert time.monotonic() < until
        engine.ask([[1, 2, 3]])
    models = set()
    for name in names_on_disk(engine):
        with safe_open(disk / name, "pt") as opened:
            models.add(opened.metadata()["fingerprint"])
    return models


def names_on_disk(engine: ReusingEngine) -> set[str]:
    segments = engine.reuse._catalogue._segments.values()
    return {f"{one.name:020d}.0.safetensors" for one in segments if one.is_on_disk}


def path_of(folder: Path, segment: Segment) -> Path:
    return folder / "disk" / f"{segment.name:020d}.0.safetensors"


def test_files_of_another_model_take_room_from_this_ones(engine, folder):
    room = engine.reuse._catalogue._disk_room
    engine.reuse.heard(WorkerReport(unused_bytes=10 * ROW + 1))
    assert engine.reuse._catalogue._disk_room == room - 11
    engine.reuse._catalogue._disk_room = room


def test_an_odd_file_in_the_folder_does_not_switch_reuse_off(engine, folder):
    assert engine.reuse.is_ready and engine.reuse.refusal is None
    assert (folder / "disk" / ODD).exists()


def test_files_of_other_weights_than_the_engine_was_started_with_are_told_apart(engine, folder):
    fill(engine)
    before = models_of_files(engine, folder)
    weight = next(engine.worker.forward._model.parameters())
    weight.data *= 2
    assert engine.llm.reset_prefix_cache(reset_connector=True)
    assert not engine.reuse._catalogue._segments
    fill(engine)
    after = models_of_files(engine, folder)
    assert len(before) == len(after) == 1 and before != after


def test_where_files_cannot_be_removed_the_others_are_read_as_before(engine, monkeypatch, caplog):
    fill(engine)
    real, refused = Path.unlink, []

    def unlink(path: Path, *arguments: object, **options: object) -> None:
        if path.suffix == ".safetensors":
            refused.append(path)
            raise OSError(errno.EROFS, "Read-only file system")
        real(path, *arguments, **options)

    monkeypatch.setattr(Path, "unlink", unlink)
    with listening(caplog):
        for seed in (1, 2, 3):
            engine.ask([[*tokens(0, SYSTEM), *tokens(7000 + seed, 200), *tokens(1, QUESTION)]])
        assert refused
        segment = on_disk_alone(engine)[-1]
        engine.tokens_by_kind()
        ask_for(engine, segment)
    assert engine.tokens_by_kind()["recomputed"] >= 64
    assert len(refused) > 1 and caplog.text.count("Read-only file system") == 1


def test_a_file_copied_over_that_of_a_segment_of_another_length_is_refused_by_name(engine, folder, caplog):
    left = fill(engine)
    one, other = next(
        (a, b) for a in left for b in left
        if len(a) != len(b) and (a.position, a.prefixes) == (b.position, b.prefixes)
    )  # fmt: skip
    shutil.copy(path_of(folder, one), path_of(folder, other))
    with listening(caplog):
        ask_for(engine, other)
    assert path_of(folder, other).name in caplog.text
    assert not is_held(engine, other)


def test_rows_that_do_not_fit_cost_their_segment_and_no_other(engine, monkeypatch):
    one, other = fill(engine)[-2:]
    store = engine.worker.store
    real = store.load_state

    def load_state(slots: torch.Tensor, owner: int, state: dict[str, torch.Tensor]) -> None:
        if owner == one.owner:
            raise RuntimeError("shape mismatch")
        real(slots, owner, state)

    monkeypatch.setattr(store, "load_state", load_state)
    ask_for(engine, one)
    assert not is_held(engine, one)
    engine.tokens_by_kind()
    ask_for(engine, other)
    assert engine.tokens_by_kind()["recomputed"] >= 64


def test_a_disk_that_is_given_up_leaves_no_request_waiting_and_its_segments_are_forgotten(engine, monkeypatch, caplog):
    """Must be the last test with this engine, whose disk stays given up."""
    *_, earlier, one, other = fill(engine)
    assert not np.array_equal(one.tokens, other.tokens)

    def start_read(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with listening(caplog):
        with monkeypatch.context() as patch:
            patch.setattr(DiskTier, "start_read", start_read)
            ask_for(engine, one)
        ask_for(engine, other)
    assert caplog.text.count("neither read from disk nor written there") == 1
    assert not is_held(engine, one) and not is_held(engine, other) and is_held(engine, earlier)
    ask_for(engine, earlier)
