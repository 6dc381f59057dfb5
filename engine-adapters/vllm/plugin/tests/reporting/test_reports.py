"""What the connector reports about requests, in vLLM's real scheduler."""

import time

from engine import Engine, tokens
from receiver import Receiver
from vllm.v1.request import RequestStatus


def test_what_a_request_was_computed_for_is_reported_as_stored(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 200))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    assert receiver.events == [{"type": "stored", "request_id": "r-1", "cached_tokens": 192}]


def test_a_long_prompt_is_reported_when_its_last_chunk_is_cached(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 600))
    engine.step()
    time.sleep(0.1)
    assert receiver.events == []
    engine.step()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 576})


def test_what_a_request_generated_is_cached_too(engine: Engine, receiver: Receiver) -> None:
    request = engine.add("r-1", tokens(0, 60), max_tokens=50)
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 96})
    assert engine.cached_tokens(request.all_token_ids) == 96


def test_a_prompt_shorter_than_a_block_is_reported_as_not_cached(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 20))
    engine.run()
    receiver.wait_until(lambda: len(receiver.events) == 1)
    assert receiver.events[0]["cached_tokens"] == 0


def test_a_request_that_is_aborted_in_the_queue_has_what_others_cached(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 100))
    engine.run()
    engine.abort(engine.add("r-2", tokens(0, 300)))
    engine.abort(engine.add("r-3", tokens(5000, 300)))
    receiver.wait_until(lambda: len(receiver.events) == 3)
    assert receiver.lengths == {"r-1": 96, "r-2": 96}
    assert {"type": "evicted", "request_id": "r-3", "cached_tokens": 0, "tier": "gpu"} in receiver.events


def test_a_request_that_is_aborted_in_its_prefill_has_what_was_computed(engine: Engine, receiver: Receiver) -> None:
    request = engine.add("r-1", tokens(0, 600))
    engine.step()
    engine.abort(request)
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 512})
    assert engine.cached_tokens(tokens(0, 600)) == 512


def test_a_preempted_request_loses_its_blocks_and_is_reported_again_when_it_is_resumed(
    engine: Engine, receiver: Receiver
) -> None:
    longer = engine.add("r-1", tokens(0, 300), max_tokens=250)
    preempted = engine.add("r-2", tokens(1000, 256), max_tokens=40)
    while not longer.is_finished() or preempted.status != RequestStatus.RUNNING:
        engine.step()
        # slowly, so that a loss is reported before it is computed again
        time.sleep(0.005)
    assert preempted.num_preemptions > 0
    receiver.wait_until(lambda: receiver.lengths.get("r-2") == engine.cached_tokens(preempted.all_token_ids))
    reported = [(event["type"], event["cached_tokens"]) for event in receiver.events if event["request_id"] == "r-2"]
    assert reported[0] == ("stored", 256)
    assert min(reported)[0] == "evicted" and min(reported)[1] < 256
    assert reported[-1][0] == "stored"
    engine.run()
    truth = {"r-1": engine.cached_tokens(longer.all_token_ids), "r-2": engine.cached_tokens(preempted.all_token_ids)}
    receiver.wait_until(lambda: receiver.lengths == truth)


def test_the_proxy_finds_the_whole_cache_in_a_snapshot_when_it_begins_anew(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 200))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    receiver.generation, receiver.lengths = None, {}
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    assert receiver.snapshots == 2
