"""From SGLang's tree to a receiver over a socket, with the real sender and its thread."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache import registry
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.runtime_context import get_memory

import reprise_sglang
from reprise_callbacks import CallbackSender, SenderLimits
from reprise_sglang import create_cache
from reprise_sglang.reporting.cache_reporter import Anchored, Evicted
from reprise_sglang.reporting.request_places import RequestPlaces

PROMPT = list(range(16))


def load_receiver() -> ModuleType:
    """Loads the shared package's receiver by file: its folder has tests of the same names, so it stays off the path."""
    file = Path(__file__).parents[3] / "python" / "tests" / "receiver.py"
    spec = importlib.util.spec_from_file_location("callback_receiver", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def receiver() -> Iterator[object]:
    receiver = load_receiver().Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def scheduled(receiver: object, core: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScheduledCache]:
    """A cache set up as in a server: by command line and environment."""
    monkeypatch.setenv("REPRISE_CALLBACK_URL", receiver.url)
    monkeypatch.setenv("REPRISE_CALLBACK_TOKEN", "secret")
    senders: list[CallbackSender] = []

    def create_sender(*arguments: object, **options: object) -> CallbackSender:
        senders.append(CallbackSender(*arguments, **options))
        return senders[-1]

    # only to end its thread
    monkeypatch.setattr(create_cache, "CallbackSender", create_sender)
    reprise_sglang.register()
    with get_memory().override(radix_cache_backend="reprise"):
        yield ScheduledCache(registry.create_tree_cache(build_context(core)))
    for sender in senders:
        sender.close(0)


def test_the_receiver_holds_what_the_tree_holds(scheduled: ScheduledCache, receiver: object) -> None:
    scheduled.serve("r-1", PROMPT)
    scheduled.serve("r-2", [*PROMPT[:8], *range(100, 108)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 16, "r-2": 16})
    scheduled.cache.evict(EvictParams(num_tokens=1))
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 8, "r-2": 16})
    scheduled.cache.evict(EvictParams(num_tokens=16))
    receiver.wait_until(lambda: receiver.lengths == {})
    assert receiver.tokens == {"Bearer secret"}
    assert {event.get("tier") for event in receiver.events if event["type"] == "evicted"} == {"gpu"}


def test_a_flush_of_the_idle_engine_arrives_without_another_step(scheduled: ScheduledCache, receiver: object) -> None:
    scheduled.serve("r-1", PROMPT)
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 16})
    scheduled.flush()
    receiver.wait_until(lambda: receiver.lengths == {})
    assert receiver.events[-1] == {"type": "cleared"}


def test_a_receiver_that_is_away_costs_the_scheduler_nothing(scheduled: ScheduledCache, receiver: object) -> None:
    receiver.answers.clear()
    answered = receiver.answered
    for i in range(50):
        scheduled.serve(f"r-{i}", [1000 * i + token for token in range(16)])
    # all of this happened while the receiver did not answer
    assert receiver.answered == answered
    receiver.answers.set()
    held = {f"r-{i}" for i in range(50) if scheduled.cached_length([1000 * i + token for token in range(16)])}
    assert 0 < len(held) <= 4
    receiver.wait_until(lambda: set(receiver.lengths) == held, seconds=10)


def test_too_many_requests_are_forgotten_oldest_first_on_both_sides(receiver: object) -> None:
    places = RequestPlaces()
    limits = SenderLimits(snapshot_bytes=10 * len('{"request_id":"r-000","cached_tokens":1234567},'))
    sender = CallbackSender(receiver.url, translator=places, limits=limits)

    sender.report([Anchored(f"r-{i:03}", 1, 16) for i in range(100)], 100)
    receiver.wait_until(lambda: "r-099" in receiver.lengths)
    assert 0 < len(receiver.lengths) <= 10
    assert places.requests == len(receiver.lengths)
    sender.report([Evicted(1, 0, 0)])
    receiver.wait_until(lambda: receiver.lengths == {})
    sender.close()
    assert places.requests == 0
