"""Segments on disk, in SGLang's own scheduler: they outlive the engine, and what is damaged is computed."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from reuse_prompts import Documents
from reusing_scheduler import ReusingScheduler

from reprise_reuse.costs import EVEN
from reprise_settings.reuse_counters import REUSE_COUNTERS
from reprise_sglang.reuse import start
from reprise_sglang.reuse.usage import asked_of

pytestmark = pytest.mark.scheduler

OFF, ALL_AGAIN, SOME_AGAIN = {"reuse": "off"}, {"reuse": 1}, {"reuse": 0.15}
ORDER = (3, 1, 4, 0, 2)


@pytest.fixture
def restart(fresh: ReusingScheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Ends what reuses in the engine, and starts another with what the folder `segments` holds."""
    first = fresh.reuser
    # nothing here depends on how fast this machine is
    monkeypatch.setattr(start, "measure_costs", lambda *_: EVEN)

    def start_again() -> None:
        fresh.forget_prefixes()
        close(fresh)
        settings = replace(first._settings, disk=str(tmp_path / "segments"))
        fresh.reuser = start.start_reuse(fresh.runner, None, settings, logging.getLogger("reprise_sglang.reuse.hooks"))
        # what the self-test has overwritten is in no cache
        fresh.forget_prefixes()

    start_again()
    yield start_again
    fresh.run()
    close(fresh)
    fresh.reuser = first


def close(engine: ReusingScheduler) -> None:
    engine.reuser._worker.tiers.close()


def until_written(engine: ReusingScheduler) -> None:
    """Waits until all that is held is on disk, too."""
    until = time.monotonic() + 60
    while any(not one.is_on_disk for one in engine.reuser._catalogue._segments.values()):
        assert time.monotonic() < until
        engine.reuser._tend()


def files(folder: Path) -> list[Path]:
    return sorted((folder / "segments").glob("*.safetensors"))


def test_segments_outlive_the_engine(fresh: ReusingScheduler, restart: Callable[[], None]) -> None:
    documents = Documents(41)
    stock = fresh.ask(documents.prompt(*ORDER), OFF)
    fresh.flush()
    fresh.ask(documents.prompt())
    until_written(fresh)
    restart()
    assert fresh.reuser._catalogue.host_tokens == 0
    assert asked_of(fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)).reused > 300
    restart()
    again = fresh.ask(documents.prompt(*ORDER), ALL_AGAIN)
    assert asked_of(again).recomputed > 300
    assert list(again.output_ids) == list(stock.output_ids)


def test_damaged_files_and_those_of_other_weights_are_computed(
    fresh: ReusingScheduler, restart: Callable[[], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    documents = Documents(42)
    stock = fresh.ask(documents.prompt(*ORDER), OFF)
    fresh.flush()
    fresh.ask(documents.prompt())
    until_written(fresh)
    for file in files(tmp_path):
        written = bytearray(file.read_bytes())
        written[-40] ^= 1
        file.write_bytes(written)
    restart()
    answer = fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)
    assert asked_of(answer).reused == 0 and list(answer.output_ids) == list(stock.output_ids)
    assert "is damaged and is not used" in caplog.text and fresh.reuser.counts["segments", "refused"] > 0
    until_written(fresh)
    norm = fresh.runner.model.model.norm.weight
    norm.data.mul_(1.5)
    restart()
    norm.data.div_(1.5)
    assert "is of another model or set-up" in caplog.text
    assert not len(fresh.reuser._catalogue)


def test_a_request_that_waits_for_the_disk_delays_no_other_and_keeps_its_place(
    fresh: ReusingScheduler, restart: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, others = Documents(43), Documents(44)
    fresh.ask(documents.prompt())
    until_written(fresh)
    restart()
    tier, read = fresh.reuser._worker.tiers._disk, []
    take_read = tier.take_read
    monkeypatch.setattr(tier, "take_read", lambda: take_read() if read else [])
    waiting = fresh.send(documents.prompt(*ORDER), SOME_AGAIN)
    aborted = fresh.send(documents.prompt(4, 3, 2, 1, 0), SOME_AGAIN)
    other = fresh.send(others.prompt(), OFF)
    fresh.run(until=other.finished)
    assert fresh.scheduler.waiting_queue == [waiting, aborted] and not fresh.steps[waiting.rid]
    fresh.abort(aborted)
    read.append(True)
    fresh.run()
    assert waiting.finished() and asked_of(waiting).reused > 300
    assert not any(one.pins for one in fresh.reuser._catalogue._segments.values())


def test_a_flush_forgets_the_files(fresh: ReusingScheduler, restart: Callable[[], None], tmp_path: Path) -> None:
    documents = Documents(45)
    fresh.ask(documents.prompt())
    until_written(fresh)
    assert files(tmp_path)
    fresh.flush()
    fresh.reuser._tend()
    until = time.monotonic() + 60
    while files(tmp_path):
        assert time.monotonic() < until
        time.sleep(0.005)
    assert asked_of(fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)).reused == 0


def test_a_sample_of_answers_is_compared_with_full_attention(fresh: ReusingScheduler) -> None:
    documents = Documents(46)
    fresh.reuser._settings = replace(fresh.reuser._settings, check=1.0)
    told: list[float] = []

    class Metrics:
        def diverged(self, nats: float) -> None:
            told.append(nats)

        def update(self, counts: object) -> None:
            pass

    fresh.reuser._metrics = Metrics()
    stock = fresh.ask(documents.prompt(*ORDER), OFF)
    fresh.flush()
    fresh.ask(documents.prompt())
    fresh.forget_prefixes()
    some = fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)
    fresh.reuser._metrics = None
    log, full = (fresh.first_logits[one.rid].float().log_softmax(-1) for one in (some, stock))
    assert told == [pytest.approx(float((full.exp() * (full - log)).sum()), abs=1e-5)]
    assert told[0] > 1e-4
    assert fresh.reuser.counts["checks", "same"] + fresh.reuser.counts["checks", "other"] == 1


def test_what_is_read_for_one_request_is_not_read_for_a_later_one_in_its_place(
    fresh: ReusingScheduler, restart: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, others = Documents(48), Documents(49)
    for one in (documents, others):
        fresh.ask(one.prompt())
    until_written(fresh)
    restart()
    first = fresh.send(documents.prompt(*ORDER), SOME_AGAIN)
    room = 1.5 * len(first.origin_input_ids)
    monkeypatch.setattr(type(fresh.reuser._catalogue), "capacity", property(lambda _: room))
    later = fresh.send(others.prompt(*ORDER), SOME_AGAIN)
    waiting = fresh.reuser.reading(fresh.scheduler.waiting_queue, fresh.scheduler.tree_cache)
    assert waiting == {id(first)}
    assert asked_of(first).fetching and not asked_of(later).fetching
    fresh.run()
    assert asked_of(first).reused > 300


def test_a_request_that_was_ready_does_not_wait_again(
    fresh: ReusingScheduler, restart: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = Documents(50)
    fresh.ask(documents.prompt())
    until_written(fresh)
    restart()
    ready = fresh.send(documents.prompt(*ORDER), SOME_AGAIN)
    until = time.monotonic() + 60
    while fresh.reuser.reading([ready], fresh.scheduler.tree_cache):
        assert time.monotonic() < until
    # it lost its place in memory, and is read once more for another request
    for segment in asked_of(ready).fetching:
        monkeypatch.setattr(segment, "is_fetching", True)
    assert not fresh.reuser.reading([ready], fresh.scheduler.tree_cache)
    monkeypatch.undo()
    fresh.run()


def test_what_another_server_has_stored_is_reused_and_a_store_that_is_gone_costs_only_that(
    fresh: ReusingScheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, documents = fresh.reuser, Documents(51)
    monkeypatch.setattr(start, "measure_costs", lambda *_: EVEN)
    settings = replace(first._settings, remote=(tmp_path / "store").as_uri())

    def start_again() -> None:
        fresh.forget_prefixes()
        fresh.reuser = start.start_reuse(fresh.runner, None, settings, logging.getLogger("reprise_sglang.reuse.hooks"))
        fresh.forget_prefixes()

    try:
        start_again()
        fresh.ask(documents.prompt())
        own = fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)
        until = time.monotonic() + 60
        while not fresh.reuser.counts["remote", "written"]:
            assert time.monotonic() < until
            fresh.reuser._tend()
        start_again()
        while fresh.reuser._worker.tiers._remote._finding.has_failed:
            assert time.monotonic() < until
        other = fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)
        assert asked_of(other).reused > 300 and fresh.reuser.counts["remote", "read"] > 0
        assert list(other.output_ids) == list(own.output_ids)
        assert not fresh.reuser._remote._found and not any(
            one.pins for one in fresh.reuser._catalogue._segments.values()
        )
        assert {what for what, _ in fresh.reuser.counts} <= set(REUSE_COUNTERS)
        # what SGLang's own cache has is not looked up
        fresh.ask(cached := documents.prompt(4, 3, 2, 1, 0), {"reuse": "off"})
        fresh.reuser._catalogue.clear()
        counts = fresh.reuser.counts.copy()
        fresh.ask(cached)
        assert fresh.reuser.counts["remote", "looked_up"] == counts["remote", "looked_up"]
        (tmp_path / "store").rename(tmp_path / "moved")
        (tmp_path / "store").touch()
        start_again()
        again = fresh.ask(documents.prompt(*ORDER), SOME_AGAIN)
        assert asked_of(again).reused == 0 and fresh.reuser._worker.tiers._remote._finding.has_failed
        aborted = fresh.send(documents.prompt(4, 3, 2, 1, 0), SOME_AGAIN)
        fresh.reuser.reading(fresh.scheduler.waiting_queue, fresh.scheduler.tree_cache)
        fresh.abort(aborted)
        fresh.run()
        fresh.reuser.reading([], fresh.scheduler.tree_cache)
        assert not fresh.reuser._remote._found
    finally:
        fresh.run()
        fresh.reuser = first
