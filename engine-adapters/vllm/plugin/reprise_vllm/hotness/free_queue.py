"""vLLM's queue of free blocks, ordered by hotness."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue

if TYPE_CHECKING:
    from vllm.v1.core.kv_cache_utils import KVCacheBlock

MOST_LEVEL = 63
OPERATIONS = {
    *("popleft", "popleft_n", "remove", "append", "append_n", "prepend_n", "get_all_free_blocks", "iter_blocks_after"),
}
"""of vLLM 0.32's queue"""


class HotFreeQueue:
    """
    A queue of vLLM's for each level: the lowest level goes first, and within a level what was used least recently.

    HotPrefix evicts the leaf with the lowest frequency + clock / length (Equation 5). All blocks have the same length.
    If the clock has no more ages than a block has tokens, recency never outweighs a use. So the order is by frequency,
    then by recency, and a block's place is known when it is freed. A prefix is requested at least as often as its
    continuations and is freed after them, so only leaves are evicted.

    All operations take O(1) per block.
    """

    def __init__(
        self, queue: FreeKVCacheBlockQueue, level_of: "Callable[[KVCacheBlock], int]", blocks: int
    ) -> None:  # fmt: skip
        """Takes over a queue's blocks, all on the lowest level. blocks: of the pool."""
        self.num_free_blocks = queue.num_free_blocks
        self._level_of = level_of
        self._levels = [0] * blocks
        """by block id; for a block in use, its last level"""
        self._queues = [queue, *(FreeKVCacheBlockQueue([]) for _ in range(MOST_LEVEL))]

    def popleft(self) -> "KVCacheBlock":
        if not self.num_free_blocks:
            raise ValueError("No free blocks available")
        return self.popleft_n(1)[0]

    def popleft_n(self, n: int) -> "list[KVCacheBlock]":
        assert self.num_free_blocks >= n
        self.num_free_blocks -= n
        taken: list[KVCacheBlock] = []
        for queue in self._queues:
            if len(taken) == n:
                break
            if queue.num_free_blocks:
                taken += queue.popleft_n(min(n - len(taken), queue.num_free_blocks))
        return taken

    def remove(self, block: "KVCacheBlock") -> None:
        self._queues[self._levels[block.block_id]].remove(block)
        self.num_free_blocks -= 1

    def append(self, block: "KVCacheBlock") -> None:
        level = self._levels[block.block_id] = max(0, min(self._level_of(block), MOST_LEVEL))
        self._queues[level].append(block)
        self.num_free_blocks += 1

    def append_n(self, blocks: "Sequence[KVCacheBlock]") -> None:
        for block in blocks:
            self.append(block)

    def prepend_n(self, blocks: "list[KVCacheBlock]") -> None:
        for block in blocks:
            self._levels[block.block_id] = 0
        self._queues[0].prepend_n(blocks)
        self.num_free_blocks += len(blocks)

    def get_all_free_blocks(self) -> "list[KVCacheBlock]":
        return list(self.iter_blocks_after(None))

    def iter_blocks_after(self, cursor: "KVCacheBlock | None") -> "Iterator[KVCacheBlock]":
        level = 0 if cursor is None else self._levels[cursor.block_id]
        above = (queue.iter_blocks_after(None) for queue in self._queues[level + 1 :])
        return chain(self._queues[level].iter_blocks_after(cursor), chain.from_iterable(above))
