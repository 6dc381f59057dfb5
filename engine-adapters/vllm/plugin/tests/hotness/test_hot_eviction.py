"""Eviction by hotness, in vLLM's real scheduler: frequently requested blocks stay, and vLLM's counts hold."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine import Engine, tokens
from engine_config import BLOCK, REPRISE, make_config
from hypothesis import given, settings
from hypothesis import strategies as st
from receiver import Receiver
from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue, KVCacheBlock
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from reprise_hotness.tracker import HotnessTracker
from reprise_vllm.hotness import free_queue
from reprise_vllm.hotness.eviction import EvictionSettingError, wants_hotness
from reprise_vllm.hotness.free_queue import HotFreeQueue

HOT = REPRISE | {"kv_connector_extra_config": {"eviction": "hotprefix"}}


@pytest.fixture
def build(folder: Path) -> Iterator[Callable[..., Engine]]:
    built: list[Engine] = []

    def build(connector: dict = HOT, scheduler: type[Scheduler] = Scheduler, blocks: int = 21) -> Engine:
        built.append(Engine(make_config(folder, connector), blocks=blocks, scheduler=scheduler))
        return built[-1]

    yield build
    for engine in built:
        engine.close()


def ask_often_then_flood(engine: Engine) -> list[int]:
    """Runs five requests that share a prefix of four blocks, then requests for twice as many blocks as there are."""
    shared = tokens(0, 4 * BLOCK)
    for i in range(5):
        engine.add(f"often-{i}", shared + tokens(1000 * (i + 1), 40))
        engine.run()
    for i in range(10):
        engine.add(f"once-{i}", tokens(engine.fresh(), 4 * BLOCK + 8))
        engine.run()
    return shared


@pytest.mark.parametrize("scheduler", [Scheduler, AsyncScheduler])
def test_what_is_asked_for_often_outlives_what_was_asked_for_last(build, scheduler):
    engine = build(scheduler=scheduler)
    assert isinstance(engine.pool.free_block_queue, HotFreeQueue)
    assert engine.cached_tokens(ask_often_then_flood(engine)) == 4 * BLOCK
    stock = build(REPRISE, scheduler)
    assert type(stock.pool.free_block_queue) is FreeKVCacheBlockQueue
    assert stock.cached_tokens(ask_often_then_flood(stock)) == 0


def test_after_a_fault_in_counting_what_was_hot_is_evicted_like_all_else(build, monkeypatch):
    engine = build()
    shared = ask_often_then_flood(engine)
    monkeypatch.setattr(HotnessTracker, "use", lambda *arguments: 1 / 0)
    for i in range(10):
        engine.add(f"later-{i}", tokens(engine.fresh(), 4 * BLOCK + 8))
        engine.run()
    assert engine.cached_tokens(shared) == 0


def test_what_comes_back_is_as_hot_as_it_was(build):
    engine = build()
    shared = ask_often_then_flood(engine)
    assert engine.scheduler.reset_prefix_cache()
    assert engine.cached_tokens(shared) == 0
    engine.add("back", shared + tokens(900, 40))
    engine.run()
    for _ in range(10):
        engine.add("once", tokens(engine.fresh(), 4 * BLOCK + 8))
        engine.run()
    assert engine.cached_tokens(shared) == 4 * BLOCK


def test_reports_stay_exact(build, receiver: Receiver):
    engine = build()
    shared = ask_often_then_flood(engine)
    left = {f"often-{i}": engine.cached_tokens(shared + tokens(1000 * (i + 1), 40)) for i in range(5)}
    receiver.wait_until(lambda: {name: receiver.lengths.get(name, 0) for name in left} == left)


def test_vllm_evicts_as_ever_and_says_so_where_its_queue_is_not_known(build, monkeypatch, caplog):
    monkeypatch.setattr(free_queue, "OPERATIONS", free_queue.OPERATIONS | {"steal"})
    engine = build()
    assert type(engine.pool.free_block_queue) is FreeKVCacheBlockQueue
    assert engine.cached_tokens(ask_often_then_flood(engine)) == 0


def test_the_operator_asks_for_it_by_name():
    assert not wants_hotness({})
    assert not wants_hotness({"eviction": "stock"})
    with pytest.raises(EvictionSettingError, match=r"eviction is 'hot'.*stock, hotprefix"):
        wants_hotness({"eviction": "hot"})


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_the_order_is_by_uses_then_by_recency(seed):
    """Compares with a list that is sorted again at every step."""
    chance = random.Random(seed)
    blocks = [KVCacheBlock(i) for i in range(24)]
    levels = [0] * 24
    queue = HotFreeQueue(FreeKVCacheBlockQueue(list(blocks)), lambda block: levels[block.block_id], 24)
    ranks = {block.block_id: (0, i) for i, block in enumerate(blocks)}
    first, last = 0, 24
    for _ in range(200):
        expected = sorted(ranks, key=ranks.__getitem__)
        assert [block.block_id for block in queue.get_all_free_blocks()] == expected
        assert queue.num_free_blocks == len(expected)
        for at, one in enumerate(expected):
            assert [block.block_id for block in queue.iter_blocks_after(blocks[one])] == expected[at + 1 :]
        move = chance.randrange(4)
        if move == 0 and expected:
            count = chance.randrange(1, len(expected) + 1)
            taken = queue.popleft_n(count) if count > 1 else [queue.popleft()]
            assert [block.block_id for block in taken] == expected[:count]
            for one in expected[:count]:
                del ranks[one]
        elif move == 1 and expected:
            one = chance.choice(expected)
            queue.remove(blocks[one])
            del ranks[one]
        else:
            back = [one for one in range(24) if one not in ranks and chance.random() < 0.5]
            if move == 2:
                queue.prepend_n([blocks[one] for one in back])
                for i, one in enumerate(reversed(back)):
                    ranks[one] = (0, first - 1 - i)
                first -= len(back)
            else:
                for one in back:
                    levels[one] = chance.randrange(5)
                    ranks[one] = (levels[one], last)
                    last += 1
                queue.append_n([blocks[one] for one in back])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_whatever_is_served_vllms_blocks_are_all_there(seed, folder):
    """Free and used blocks together are all blocks, and once every request has ended, every block is free."""
    engine = Engine(make_config(folder, HOT), blocks=21)
    try:
        chance = random.Random(seed)
        for i in range(30):
            prompt = tokens(1000 * chance.randrange(4), BLOCK * chance.randrange(1, 6)) + tokens(engine.fresh(), 20)
            request = engine.add(f"r-{i}", prompt, max_tokens=chance.randrange(1, 40))
            if chance.random() < 0.5:
                engine.step()
            if chance.random() < 0.2 and not request.is_finished():
                engine.abort(request)
            queue = engine.pool.free_block_queue
            free = queue.get_all_free_blocks()
            assert len(free) == queue.num_free_blocks
            assert all(block.ref_cnt == 0 for block in free)
        engine.run()
        assert engine.pool.get_num_free_blocks() == 20
    finally:
        engine.close()
