"""vLLM's queue of free blocks, ordered by hotness."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue

if TYPE_CHECKING:
    from vllm.v1.core.kv_cache_utils import KVCacheBlock

MOST_LEVEL = 63


class HotFreeQueue(FreeKVCacheBlockQueue):
    """
    vLLM's linked list of free blocks, sorted by level: lowest level first, least recently used first within a level.

    HotPrefix evicts the leaf with the lowest frequency + clock / length (Equation 5). All blocks have the same length.
    If the clock has no more ages than a block has tokens, recency never outweighs a use. So the order is by frequency,
    then by recency, and a block's place is known when it is freed. A prefix is requested at least as often as its
    continuations and is freed after them, so only leaves are evicted.

    All operations take O(1) per block. The list is linked as in vLLM's own queue.
    """

    @classmethod
    def take_over(
        cls, queue: FreeKVCacheBlockQueue, level_of: "Callable[[KVCacheBlock], int]", blocks: int
    ) -> "HotFreeQueue":
        """Takes over a queue's blocks, all on the lowest level, and its counts."""
        hot = cls.__new__(cls)
        hot.__dict__.update(queue.__dict__)
        hot._level_of = level_of
        hot._levels = [0] * blocks
        hot._last = [None] * (MOST_LEVEL + 1)
        hot._filled = 0
        if hot.num_free_blocks > 0:
            hot._set_last(0, hot.fake_free_list_tail.prev_free_block)
        return hot

    _level_of: "Callable[[KVCacheBlock], int]"
    _levels: list[int]
    """by block id; for a block in use, its last level"""
    _last: "list[KVCacheBlock | None]"
    """the last block of each level"""
    _filled: int
    """one bit per level, set if the level has a block"""

    def popleft(self) -> "KVCacheBlock":
        block = super().popleft()
        self._left_front(block)
        return block

    def popleft_n(self, n: int) -> "list[KVCacheBlock]":
        blocks = super().popleft_n(n)
        for block in blocks:
            self._left_front(block)
        return blocks

    def remove(self, block: "KVCacheBlock") -> None:
        before = block.prev_free_block
        super().remove(block)
        level = self._levels[block.block_id]
        if self._last[level] is not block:
            return
        is_level_there = before is not self.fake_free_list_head and self._levels[before.block_id] == level
        self._set_last(level, before if is_level_there else None)

    def append(self, block: "KVCacheBlock") -> None:
        self._put(block)
        self.num_free_blocks += 1

    def append_n(self, blocks: "Sequence[KVCacheBlock]") -> None:
        for block in blocks:
            self._put(block)
        self.num_free_blocks += len(blocks)

    def prepend_n(self, blocks: "list[KVCacheBlock]") -> None:
        super().prepend_n(blocks)
        for block in blocks:
            self._levels[block.block_id] = 0
        if blocks and self._last[0] is None:
            self._set_last(0, blocks[-1])

    def _put(self, block: "KVCacheBlock") -> None:
        level = max(0, min(self._level_of(block), MOST_LEVEL))
        below = self._filled & ((2 << level) - 1)
        before = self._last[below.bit_length() - 1] if below else self.fake_free_list_head
        after = before.next_free_block
        before.next_free_block = after.prev_free_block = block
        block.prev_free_block, block.next_free_block = before, after
        self._levels[block.block_id] = level
        self._set_last(level, block)

    def _left_front(self, block: "KVCacheBlock") -> None:
        level = self._levels[block.block_id]
        if self._last[level] is block:
            self._set_last(level, None)

    def _set_last(self, level: int, block: "KVCacheBlock | None") -> None:
        self._last[level] = block
        self._filled = self._filled | (1 << level) if block is not None else self._filled & ~(1 << level)
