"""Tests the sender against a receiver that follows the protocol, over real sockets."""

import random
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from receiver import Receiver

from reprise_callbacks import CallbackSender, Change, SenderLimits, evicted, stored

QUICK = SenderLimits(
    gap=0.001, idle_gap=0.005, heartbeat=0.05, first_pause=0.01, longest_pause=0.05, answer_timeout=0.5
)


def test_a_generation_begins_with_a_snapshot_and_events_follow_in_sequence(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, "secret", limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([stored("r-1", 96), stored("r-2", 64)])
    sender.report([evicted("r-1", 32)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 32, "r-2": 64})
    sender.close()
    assert [body["sequence"] for _, body in receiver.posts] == list(range(len(receiver.posts)))
    assert receiver.posts[0][1]["requests"] == []
    assert {event.get("tier") for event in receiver.events if event["type"] == "evicted"} <= {"gpu"}
    assert receiver.tokens == {"Bearer secret"}


def test_what_one_step_reports_is_one_post(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([stored(f"r-{i}", 32) for i in range(50)])
    receiver.wait_until(lambda: len(receiver.lengths) == 50)
    sender.close()
    assert [len(body["events"]) for kind, body in receiver.posts if kind == "events" and body["events"]] == [50]


def test_what_was_reported_arrives_without_a_step(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([evicted("r-1", 0)])
    receiver.wait_until(lambda: len(receiver.events) == 1)
    sender.close()


def test_a_sender_with_nothing_to_tell_says_so_before_its_silence_counts_as_a_fault(receiver: Receiver) -> None:
    limits = SenderLimits()
    assert limits.heartbeat + limits.idle_gap + limits.gap < 3
    sender = CallbackSender(receiver.url, limits=replace(limits, heartbeat=0.1))
    receiver.wait_until(lambda: len(receiver.posts) >= 4)
    sender.close()
    assert [kind for kind, _ in receiver.posts[:4]] == ["snapshot", "events", "events", "events"]
    assert receiver.events == []
    assert [body["sequence"] for _, body in receiver.posts[:4]] == [0, 1, 2, 3]


def test_close_posts_what_is_left(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url)
    sender.report([stored("r-1", 96)])
    sender.close()
    assert receiver.lengths == {"r-1": 96}


def test_a_cleared_cache_is_told_before_what_follows_it(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([stored("r-1", 96)])
    sender.cleared()
    sender.report([stored("r-2", 32)])
    receiver.wait_until(lambda: receiver.lengths == {"r-2": 32})
    sender.close()
    assert "cleared" in [event["type"] for event in receiver.events]


@pytest.mark.parametrize("status", [401, 404, 413, 500, 503])
def test_a_receiver_that_refuses_is_sent_a_snapshot_when_it_no_longer_does(receiver: Receiver, status: int) -> None:
    warnings: list[str] = []
    receiver.status = status
    sender = CallbackSender(receiver.url, limits=QUICK, warn=warnings.append)
    sender.report([stored("r-1", 96)])
    time.sleep(0.15)
    receiver.status = None
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 96})
    receiver.wait_until(lambda: len(warnings) == 2)
    sender.close()
    assert str(status) in warnings[0] and "again" in warnings[1]


def test_a_receiver_that_is_started_late_or_anew_is_sent_a_snapshot_while_all_is_quiet() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        port = place.getsockname()[1]
    sender = CallbackSender(f"http://127.0.0.1:{port}/v1/replicas/gpu-0", limits=QUICK)
    sender.report([stored("r-1", 96)])
    time.sleep(0.1)
    for _ in range(2):
        receiver = Receiver(port)
        receiver.wait_until(lambda here=receiver: here.lengths == {"r-1": 96})
        receiver.stop()
    sender.close()


def test_a_lost_answer_is_followed_by_a_snapshot_not_by_silence(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    receiver.lose_answers = 3
    sender.report([stored("r-1", 96)])
    sender.report([evicted("r-1", 64)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 64} and receiver.snapshots >= 2)
    sender.close()


def test_a_receiver_that_falls_behind_gets_one_cleared_and_a_snapshot(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, limits=SenderLimits(untold_changes=100, gap=0.001, heartbeat=5))
    receiver.wait_until(lambda: receiver.snapshots == 1)
    receiver.delay = 0.2
    sender.report([stored("first", 32)])
    time.sleep(0.05)
    for i in range(300):
        sender.report([stored(f"r-{i}", 32)])
    receiver.delay = 0
    expected = {"first": 32, **{f"r-{i}": 32 for i in range(300)}}
    receiver.wait_until(lambda: receiver.lengths == expected)
    sender.close()
    assert [event["type"] for event in receiver.events].count("cleared") == 1
    assert receiver.snapshots == 2


class Slow:
    """A translator that reads slowly, so that reports pile up."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.forgot = 0

    def translate(self, report: list[Change]) -> Iterable[Change]:
        self.gate.wait()
        return report

    def forget(self, request_id: str) -> None:
        raise AssertionError("nothing is to be forgotten here")

    def forget_all(self) -> None:
        self.forgot += 1


def test_reports_that_overflow_the_queue_are_followed_by_one_cleared_and_a_snapshot(receiver: Receiver) -> None:
    translator = Slow()
    limits = SenderLimits(queued_facts=10, gap=0.001, heartbeat=5)
    sender = CallbackSender(receiver.url, translator=translator, limits=limits)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    for i in range(50):
        sender.report([stored(f"lost-{i}", 32)])
    translator.gate.set()
    receiver.wait_until(lambda: receiver.snapshots == 2)
    sender.report([stored("kept", 64)])
    receiver.wait_until(lambda: receiver.lengths == {"kept": 64})
    sender.close()
    assert [event["type"] for event in receiver.events].count("cleared") == 1
    assert translator.forgot == 1


def test_a_fault_in_a_report_is_survived_and_told_anew(receiver: Receiver) -> None:
    warnings: list[str] = []
    sender = CallbackSender(receiver.url, limits=QUICK, warn=warnings.append)
    sender.report([stored("r-1", 96)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 96})
    sender.report(17)
    sender.report([stored("r-2", 64)])
    receiver.wait_until(lambda: receiver.lengths == {"r-2": 64})
    sender.close()
    assert len(warnings) == 1


def test_a_fault_while_posts_fail_already_is_named_once(receiver: Receiver) -> None:
    warnings: list[str] = []
    receiver.status = 503
    sender = CallbackSender(receiver.url, limits=QUICK, warn=warnings.append)
    receiver.wait_until(lambda: len(warnings) == 1)
    sender.describe({"cannot_be_encoded": object()})
    receiver.wait_until(lambda: len(warnings) == 2)
    time.sleep(0.15)
    sender.close()
    assert "503" in warnings[0] and "TypeError" in warnings[1] and len(warnings) == 2


def test_the_engine_does_not_wait_for_a_receiver_that_does_not_answer(receiver: Receiver) -> None:
    receiver.answers.clear()
    sender = CallbackSender(receiver.url)
    for i in range(2000):
        sender.report([stored(f"r-{i}", 32)])
    assert receiver.answered == 0
    receiver.answers.set()
    receiver.wait_until(lambda: len(receiver.lengths) == 2000)
    sender.close()


def test_a_snapshot_stays_below_what_receivers_read_and_the_oldest_are_told_as_evicted(receiver: Receiver) -> None:
    sender = CallbackSender(receiver.url, limits=SenderLimits(snapshot_bytes=10_000, gap=0.001))
    receiver.wait_until(lambda: receiver.snapshots == 1)
    for i in range(500):
        sender.report([stored(f"request-{i:03}", 32)])
    receiver.wait_until(lambda: "request-499" in receiver.lengths and len(receiver.lengths) < 200)
    newest = [f"request-{i:03}" for i in range(500 - len(receiver.lengths), 500)]
    assert list(receiver.lengths) == newest and len(newest) > 100
    receiver.generation = None
    sender.report([stored("another", 32)])
    receiver.wait_until(lambda: receiver.snapshots == 2 and "another" in receiver.lengths)
    sender.close()
    assert 2000 < receiver.largest_snapshot <= 10_000 + 200


_changes = st.builds(
    Change,
    st.sampled_from(["stored", "evicted"]),
    st.sampled_from([f"r-{i}" for i in range(6)]),
    st.integers(0, 4).map(lambda blocks: blocks * 32),
)
_faults = st.sampled_from(["none", "forget", "lose", "refuse"])


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.tuples(st.lists(_changes, max_size=4), _faults), max_size=12), seed=st.integers())
def test_whatever_happens_on_the_way_the_receiver_ends_with_what_was_reported_last(
    steps: list[tuple[list[Change], str]], seed: int
) -> None:
    chance = random.Random(seed)
    receiver = Receiver()
    sender = CallbackSender(receiver.url, limits=QUICK)
    expected: dict[str, int] = {}
    for changes, fault in steps:
        receiver.status = 503 if fault == "refuse" else None
        if fault == "forget":
            receiver.generation = None
        if fault == "lose":
            receiver.lose_answers = 1
        sender.report(changes)
        for change in changes:
            expected[change.request_id] = change.cached_tokens
        time.sleep(chance.random() * 0.01)
    receiver.status = None
    try:
        receiver.wait_until(lambda: receiver.lengths == {name: tokens for name, tokens in expected.items() if tokens})
    finally:
        sender.close()
        receiver.stop()


def test_what_was_reused_is_told_beside_what_is_exact():
    receiver = Receiver()
    sender = CallbackSender(receiver.url, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([stored("r-1", 64, 500, 90), stored("r-2", 0, 300, 0), stored("r-3", 32)])
    receiver.wait_until(lambda: len(receiver.events) == 3)
    told = [{name: value for name, value in event.items() if name.endswith("tokens")} for event in receiver.events]
    assert told == [
        {"cached_tokens": 64, "reused_tokens": 500, "recomputed_tokens": 90},
        {"cached_tokens": 0, "reused_tokens": 300, "recomputed_tokens": 0},
        {"cached_tokens": 32},
    ]
    sender.close()
    receiver.stop()


def test_snapshots_say_what_the_engine_is_described_as_from_then_on():
    receiver = Receiver()
    sender = CallbackSender(receiver.url, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.describe({"reuse": {"ratio": 0.15}})
    sender.report([stored("r-1", 64)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 64})
    snapshots = [body for kind, body in receiver.posts if kind == "snapshot"]
    assert "reuse" not in snapshots[0] and snapshots[-1]["reuse"] == {"ratio": 0.15}
    sender.close()
    receiver.stop()


def test_of_checkpoints_that_several_requests_share_what_was_reported_last_is_told_last(receiver: Receiver) -> None:
    receiver.status = 503
    sender = CallbackSender(receiver.url, limits=QUICK)
    shared = [stored("r-1", 64, checkpoints=[32, 64]), stored("r-2", 96, checkpoints=[32, 64, 96])]
    sender.report([*shared, evicted("r-1", 64, [32]), evicted("r-2", 64)])
    receiver.wait_until(lambda: receiver.answered > 0)
    receiver.status = None
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.report([evicted("r-2", 64, [64]), evicted("r-1", 64, [32, 64]), evicted("r-2", 32)])
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 64, "r-2": 32})
    sender.close()
    told = [(one["request_id"], one["checkpoints"]) for one in [*receiver.posts[0][1]["requests"], *receiver.events]]
    assert told == [("r-2", [32, 64, 96]), ("r-1", [32]), ("r-2", [64]), ("r-1", [32, 64])]
