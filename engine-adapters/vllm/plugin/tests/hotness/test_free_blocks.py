"""Which blocks vLLM hands out next, by its own queue and by ours."""

import random

import pytest
from vllm.v1.core.block_pool import BlockPool

from reprise_vllm.hotness.free_queue import HotFreeQueue
from reprise_vllm.reuse.scheduler.page_tier import next_blocks


@pytest.mark.parametrize("is_hot", [False, True], ids=["vLLM's queue", "by hotness"])
def test_the_blocks_that_are_told_are_those_that_are_handed_out(is_hot):
    chance, pool = random.Random(1), BlockPool(40, enable_caching=True, hash_block_size=16)
    if is_hot:
        pool.free_block_queue = HotFreeQueue(
            pool.free_block_queue, lambda block: block.block_id % 3, pool.num_gpu_blocks
        )
    held = []
    for _ in range(100):
        count = chance.randint(1, 8)
        if count <= pool.get_num_free_blocks():
            told = list(next_blocks(pool, count))
            held += pool.get_new_blocks(count)
            assert [block.block_id for block in held[-count:]] == told
        chance.shuffle(held)
        pool.free_blocks(held[: chance.randint(0, len(held))])
        held = [block for block in held if block.ref_cnt]
    assert len(list(next_blocks(pool, 1000))) == pool.get_num_free_blocks()


def test_without_a_pool_there_are_none():
    assert list(next_blocks(None, 5)) == []
