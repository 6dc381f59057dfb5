"""Two engines with one store: what one has computed, the other reuses; whatever happens to the store, both answer."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from listening import listening
from reuse_model import ReusingEngine, make_model
from reuse_prompts import QUESTION, SYSTEM, difference, full_attention, said, tokens

from reprise_reuse.remote import remote_segments, remote_tier
from reprise_reuse.remote.remote_segments import Pace
from reprise_reuse.stores.folder_store import FolderStore
from reprise_vllm.usage.engine_metrics import _COUNTERS

DOCUMENT, OTHER, PRIVATE = tokens(5000, 300), tokens(5001, 260), tokens(5002, 280)
KEY = "a secret"


def prompt_of(document: Sequence[int], before: int = 0, question: int = 1) -> list[int]:
    return [*tokens(0, SYSTEM), *tokens(70 + before, before), *document, *tokens(1000 + question, QUESTION)]


MOVED = prompt_of(DOCUMENT, 77, 2)


def wait_for(engine: ReusingEngine, condition: Callable[[Counter], object]) -> Counter[str]:
    """Has the engine take steps until what was counted of the store fulfils a condition. Returns these counts."""
    seen: Counter[str] = Counter()
    until = time.monotonic() + 30
    while True:
        seen.update({kind: count for (what, kind), count in engine.counts().items() if what == "remote"})
        if condition(seen):
            return seen
        assert time.monotonic() < until, seen
        engine.ask([[1, 2, 3]])


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, Path]:
    folder = tmp_path_factory.mktemp("engines")
    reuse = {"host_bytes": 8 << 20, "remote": (folder / "store").as_uri(), "preprocess_key": KEY}
    return make_model(folder / "model"), reuse, folder / "store"


@pytest.fixture(scope="module")
def own(settings) -> object:
    """What an engine answers from its own host memory, which has written to the store what it was asked for again."""
    model, reuse, store = settings
    engine = ReusingEngine(model, reuse)
    engine.ask([prompt_of(DOCUMENT)])
    assert not [one for one in store.rglob("*") if one.is_file()]
    engine.ask([prompt_of(DOCUMENT, 40, 3)])
    wait_for(engine, lambda seen: seen["written"] > 0)
    engine.ask([prompt_of(OTHER)], {"preprocess": KEY})
    engine.ask([prompt_of(PRIVATE)], {"user": "u"})
    engine.ask([prompt_of(PRIVATE, 33)], {"user": "u"})
    wait_for(engine, lambda seen: seen["written"] > 1)
    answer = engine.ask([MOVED])[0]
    engine.core.shutdown()
    return answer


@pytest.fixture(scope="module")
def engine(settings, own) -> Iterator[ReusingEngine]:
    model, reuse, _ = settings
    engine = ReusingEngine(model, reuse)
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def forget(engine, monkeypatch) -> None:
    """Has the engine begin with nothing, and look up again what it did not find in an earlier test."""
    monkeypatch.setattr(remote_tier, "_ABSENT_SECONDS", 0)
    # other load of the machine delays threads for longer than this model computes
    monkeypatch.setattr(remote_segments, "_LEAST_SILENCE", 1.0)
    engine.reset()
    remote = engine.worker.tiers._remote
    for breaker in (remote._finding, remote._reads._breaker, remote._writing):
        breaker._faults = 0
    remote._outdated.clear()


def reused(engine: ReusingEngine) -> int:
    counts = engine.counts()
    return counts["tokens", "reused"] + counts["tokens", "recomputed"]


def test_what_another_engine_computed_is_reused_as_from_own_host_memory(engine, own):
    answer = engine.ask([MOVED])[0]
    assert reused(engine) >= 250
    assert said(answer) == said(own) and difference(answer, own) == 0
    assert {"remote", "remote_bytes", "remote_seconds"} <= {what for what, _ in engine.reuse.counts} <= set(_COUNTERS)


def test_what_was_preprocessed_once_is_found_by_everybody_and_a_user_s_own_by_that_user(engine):
    engine.ask([prompt_of(OTHER, 20)], {"user": "v"})
    assert reused(engine) >= 250
    engine.ask([prompt_of(PRIVATE, 20)], {"user": "v"})
    assert reused(engine) < 64
    engine.reset()
    engine.ask([prompt_of(PRIVATE, 20)], {"user": "u"})
    assert reused(engine) >= 250


def test_another_tenant_finds_nothing(engine):
    engine.ask([MOVED], salt="another tenant")
    assert reused(engine) == 0


def test_with_everything_computed_again_the_answer_is_full_attention_s(engine):
    answer = engine.ask([MOVED], {"reuse": 1.0})[0]
    assert engine.tokens_by_kind()["recomputed"] >= 250
    assert said(answer) == said(full_attention(engine, MOVED))


def test_requests_that_ask_for_the_same_at_once_have_it_read_once(engine):
    engine.ask([prompt_of(DOCUMENT, 77, question) for question in (4, 5, 6)])
    counts = engine.counts()
    assert counts["remote", "read"] == 1 and counts["tokens", "reused"] + counts["tokens", "recomputed"] >= 750
    assert all(one.pins == 0 for one in engine.reuse._catalogue._segments.values())
    assert not engine.reuse._remote._found


def test_what_is_read_more_slowly_than_computed_is_computed(engine):
    engine.reuse._remote._byte.measured(1e6, 1)
    try:
        engine.ask([MOVED])
        counts = engine.counts()
        assert counts["remote", "found"] and not counts["remote", "read"] and not counts["tokens", "reused"]
    finally:
        engine.reuse._remote._byte = Pace()
    # nothing is kept of what is not here
    held = engine.reuse._catalogue._segments.values()
    assert all(one.slots is not None for one in held)


def test_damaged_values_are_refused_and_cost_nothing_but_hits(engine, settings, caplog, tmp_path):
    *_, store = settings
    shutil.copytree(store, tmp_path / "kept")
    try:
        for path in store.rglob("*"):
            if path.is_file() and path.stat().st_size > 100_000:
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 1
                path.write_bytes(data)
        with listening(caplog):
            answer = engine.ask([MOVED])[0]
        assert "is damaged and is not used" in caplog.text
        counts = engine.counts()
        assert counts["remote", "refused"] and not counts["remote", "read"] and counts["tokens", "reused"] == 0
        assert said(answer) == said(full_attention(engine, MOVED))
    finally:
        shutil.rmtree(store)
        (tmp_path / "kept").rename(store)


@pytest.mark.parametrize("fault", ["full", "gone", "hangs"])
def test_whatever_happens_to_the_store_every_request_is_answered(engine, monkeypatch, fault):
    ends = threading.Event()

    def get(self: FolderStore, keys: Sequence[str]) -> list[bytes | None]:
        if fault == "hangs":
            ends.wait(60)
        raise OSError("Connection refused")

    def put(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FolderStore, "put", put)
    if fault != "full":
        monkeypatch.setattr(FolderStore, "get", get)
        monkeypatch.setattr("reprise_reuse.remote.store_calls._MOST_PATIENCE", 0.1)
    new = prompt_of(tokens(6000 + ord(fault[0]), 300), 10)
    for asked in (MOVED, new, prompt_of(new[SYSTEM + 10 : -QUESTION], 44, 9)):
        answer = engine.ask([asked], {"reuse": 1.0})[0]
        assert said(answer) == said(full_attention(engine, asked))
    seen = wait_for(engine, lambda seen: seen["unwritten"] or engine.worker.tiers._remote._finding.has_failed)
    assert bool(seen["read"]) == (fault == "full")
    ends.set()
