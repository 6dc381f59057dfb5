"""How long a request waits for a store that does not answer, by a clock of the test's own."""

import logging
import threading
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from test_stores import wait_for

from reprise_reuse.costs import EVEN, Costs
from reprise_reuse.disk.messages import ReuseReport
from reprise_reuse.remote import remote_segments, store_calls
from reprise_reuse.remote.remote_segments import RemoteSegments
from reprise_reuse.remote.store_calls import Breaker, StoreCalls
from reprise_reuse.segments import Catalogue

COMPUTING = 2.0
"""seconds that computing a prompt takes"""


class Clock:
    """Time, which passes when the test says so."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class HangingStore:
    """Answers a call when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers = threading.Semaphore(0)
        self.fails: Exception | None = None

    def get(self, asked: str) -> str:
        self.asked.append(asked)
        self.answers.acquire()
        if self.fails:
            raise self.fails
        return f"{asked}'s"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(store_calls, "time", clock)
    monkeypatch.setattr(remote_segments, "time", clock)
    return clock


@pytest.fixture
def store() -> HangingStore:
    return HangingStore()


class Counted(Counter[tuple[str, str]]):
    def count(self, kind: str, count: float, what: str) -> None:
        self[what, kind] += count


@pytest.fixture
def counts() -> Counted:
    return Counted()


@pytest.fixture
def calls(clock: Clock, store: HangingStore, counts: Counted) -> StoreCalls[str, str]:
    return StoreCalls(store.get, Breaker(logging.getLogger("reprise"), "read"), "read", counts.count)


def taken(calls: StoreCalls[str, str], count: int = 1) -> list[tuple[str, str | None]]:
    """Returns the next answers, without time passing."""
    answers: list[tuple[str, str | None]] = []
    wait_for(lambda: answers.extend(calls.take()) or len(answers) >= count)
    return answers


def begun(store: HangingStore, calls: StoreCalls[str, str], *asked: str, silence: float = 0.1) -> None:
    for one in asked:
        calls.start(one, COMPUTING, silence)
    wait_for(lambda: set(asked) <= set(store.asked))


def test_a_request_goes_on_without_a_store_that_is_silent_and_hears_nothing_of_it_later(clock, store, calls, counts):
    begun(store, calls, "one")
    clock.now += 0.09
    assert calls.take() == []
    clock.now += 0.01
    assert calls.take() == [("one", None)]
    store.answers.release()
    wait_for(lambda: counts["remote_seconds", "read"] > 0)
    assert calls.take() == [] and not calls._breaker.has_failed


def test_as_long_as_a_store_answers_others_one_waits_for_it_but_no_longer_than_computing_takes(clock, store, calls):
    begun(store, calls, "one", "two", "three", silence=COMPUTING * 0.6)
    clock.now += COMPUTING * 0.5
    store.answers.release()
    assert [answer is None for _, answer in taken(calls)] == [False]
    clock.now += COMPUTING * 0.4
    assert calls.take() == []
    clock.now += COMPUTING * 0.1
    assert [answer for _, answer in calls.take()] == [None, None]


def test_after_a_fault_nobody_waits_until_a_call_was_answered_late_or_not(clock, store, calls, counts):
    begun(store, calls, "one")
    clock.now += COMPUTING
    assert calls.take() == [("one", None)] and counts["remote", "failed"] == 1
    begun(store, calls, "two")
    assert calls.take() == [("two", None)]
    store.answers.release()
    wait_for(lambda: not calls._breaker.has_failed)
    begun(store, calls, "three")
    assert calls.take() == []
    store.answers.release(2)
    assert taken(calls) == [("three", "three's")]


def test_those_who_wait_when_a_store_fails_wait_no_longer(clock, store, calls, counts):
    begun(store, calls, "one", "two", "three", silence=COMPUTING)
    store.fails = OSError("Connection refused")
    store.answers.release()
    assert sorted(taken(calls, 3)) == [("one", None), ("three", None), ("two", None)]
    assert counts["remote", "failed"] == 1


def test_a_store_that_hangs_is_left_alone_after_three_late_calls_and_tried_again_while_nobody_waits(
    clock, store, calls, caplog
):
    for number in range(3):
        begun(store, calls, f"{number}")
        clock.now += COMPUTING
        assert calls.take() == [(f"{number}", None)]
    assert caplog.text.count("the remote store is not read until it answers again: it takes too long") == 1
    calls.start("left alone", COMPUTING, 0.1)
    assert calls.take() == [("left alone", None)]
    clock.now += store_calls._PAUSE
    begun(store, calls, "tried")
    assert calls.take() == [("tried", None)] and store.asked == ["0", "1", "2", "tried"]
    store.answers.release(4)
    wait_for(lambda: not calls._breaker.has_failed)
    assert "answers again" in caplog.text


@pytest.mark.parametrize("lookup_seconds", [0.0001, 0.001, 0.02])
def test_an_outage_costs_few_requests_a_little_time_and_the_others_none(clock, store, lookup_seconds):
    segments = RemoteSegments(Catalogue(1000), 16, is_used=True)
    calls = StoreCalls(
        lambda lookup: store.get(lookup.request), Breaker(logging.getLogger(), "searched"), "lookup", Counted().count
    )
    asked = SimpleNamespace(namespace=b"", wish=SimpleNamespace(user=b"u"))
    prompt = np.arange(500, dtype=np.int32)
    segments.heard(ReuseReport(figures=_measured(segments, asked, prompt, lookup_seconds)))
    waited: list[float] = []
    for number in range(14):
        since, costs = clock.now, Costs(row=COMPUTING / len(prompt))
        segments.look_up(f"{number}", asked, prompt, list, costs)
        for lookup in segments.take_orders(is_reset=False).lookups:
            calls.start(lookup, lookup.seconds, lookup.silence)
        _until_it_goes_on(clock, segments, calls, f"{number}")
        waited.append(clock.now - since)
        clock.now += COMPUTING
    assert waited[0] <= 0.05 * COMPUTING and sum(waited) <= 0.01 * 14 * COMPUTING


def _measured(
    segments: RemoteSegments, asked: SimpleNamespace, prompt: np.ndarray, seconds: float
) -> Counter[tuple[str, str]]:
    """What is counted if a lookup of the prompt takes so long."""
    segments.look_up("measured", asked, prompt, list, EVEN)
    (lookup,) = segments.take_orders(is_reset=False).lookups
    segments.forget("measured")
    return Counter({("remote_seconds", "lookup"): seconds, ("remote", "keys"): 2 * len(lookup.grams)})


def _until_it_goes_on(clock: Clock, segments: RemoteSegments, calls: StoreCalls, request: str) -> None:
    while not segments.order_reads(request, [], (0, 500), EVEN):
        segments.heard(ReuseReport(found=[(lookup.request, found) for lookup, found in calls.take()]))
        clock.now += 0.001
