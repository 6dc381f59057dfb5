"""What the connector reports about evictions, over vLLM's real block pool."""

from engine import Engine, tokens
from engine_config import BLOCK
from receiver import Receiver


def test_a_half_evicted_request_is_cut_not_forgotten(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 400))
    engine.run()
    engine.add("r-2", tokens(1000, 400))
    engine.run()
    left = engine.cached_tokens(tokens(0, 400))
    assert 0 < left < 384
    receiver.wait_until(lambda: receiver.lengths == {"r-1": left, "r-2": 384})
    engine.add("r-3", tokens(2000, 600))
    engine.run()
    receiver.wait_until(lambda: "r-1" not in receiver.lengths)
    assert engine.cached_tokens(tokens(0, 400)) == 0
    assert {"type": "evicted", "request_id": "r-1", "cached_tokens": 0, "tier": "gpu"} in receiver.events


def test_requests_that_share_a_block_lose_it_together(engine: Engine, receiver: Receiver) -> None:
    shared = tokens(0, 128)
    for i in range(3):
        engine.add(f"r-{i}", shared + tokens(1000 * (i + 1), 40))
        engine.run()
    receiver.wait_until(lambda: receiver.lengths == {f"r-{i}": 160 for i in range(3)})
    engine.add("r-9", tokens(9000, 608))
    engine.run()
    left = engine.cached_tokens(shared)
    assert left < 128
    receiver.wait_until(lambda: receiver.lengths.get("r-9") == 608)
    assert {name: receiver.lengths.get(name, 0) for name in ("r-0", "r-1", "r-2")} == dict.fromkeys(
        ("r-0", "r-1", "r-2"), left
    )


def test_a_block_is_lost_with_its_last_copy_only(engine: Engine, receiver: Receiver) -> None:
    # a prompt of whole blocks computes its last block again, so two physical blocks have the same hash
    prompt = tokens(0, 4 * BLOCK)
    engine.add("r-1", prompt)
    engine.run()
    engine.add("r-2", prompt)
    engine.run()
    assert engine.copies(prompt) == 2
    while engine.copies(prompt) == 2:
        engine.add("filler", tokens(engine.fresh(), 2 * BLOCK))
        engine.run()
    receiver.wait_until(lambda: len(receiver.lengths) == 3)
    assert engine.cached_tokens(prompt) == 128
    assert (receiver.lengths["r-1"], receiver.lengths["r-2"]) == (128, 128)
    while engine.copies(prompt) == 1:
        engine.add("filler", tokens(engine.fresh(), 2 * BLOCK))
        engine.run()
    left = engine.cached_tokens(prompt)
    assert left < 128
    receiver.wait_until(lambda: receiver.lengths.get("r-1", 0) == receiver.lengths.get("r-2", 0) == left)


def test_a_cache_that_is_emptied_while_the_engine_is_idle_is_reported_within_a_second(
    engine: Engine, receiver: Receiver
) -> None:
    engine.add("r-1", tokens(0, 200))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    assert engine.scheduler.reset_prefix_cache()
    receiver.wait_until(lambda: receiver.lengths == {})
    engine.add("r-2", tokens(0, 100))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-2": 96})


def test_running_requests_survive_that_the_cache_is_emptied_under_them(engine: Engine, receiver: Receiver) -> None:
    request = engine.add("r-1", tokens(0, 200), max_tokens=100)
    for _ in range(10):
        engine.step()
    assert engine.scheduler.reset_prefix_cache(reset_running_requests=True)
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": engine.cached_tokens(request.all_token_ids)})
    assert receiver.lengths["r-1"] == 288


def test_blocks_whose_load_failed_are_reported(engine: Engine, receiver: Receiver) -> None:
    engine.add("r-1", tokens(0, 320))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 320})
    engine.pool.evict_blocks({engine.block_of(tokens(0, 96)).block_id})
    engine.add("r-2", tokens(1000, 40))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 64, "r-2": 32})
    engine.add("r-3", tokens(0, 100))
    engine.run()
    # the blocks after the one that came back were cached all the time
    assert engine.cached_tokens(tokens(0, 320)) == 320
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 64, "r-2": 32, "r-3": 96})
