"""Reads vLLM's list of free blocks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool


def next_blocks(pool: "BlockPool | None", count: int) -> Iterator[int]:
    """Yields the ids of the free blocks that are handed out next, `count` at most; none without a pool."""
    if pool is None:
        return
    queue = pool.free_block_queue
    block, end = queue.fake_free_list_head.next_free_block, queue.fake_free_list_tail
    for _ in range(count):
        if block is None or block is end:
            return
        yield block.block_id
        block = block.next_free_block
