"""A self-test: checks that our queue of free blocks behaves like this vLLM's own."""

import random

from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue, KVCacheBlock

from reprise_vllm.hotness.free_queue import MOST_LEVEL, HotFreeQueue

# vLLM 0.32
_KNOWN = {
    "popleft",
    "popleft_n",
    "remove",
    "append",
    "append_n",
    "prepend_n",
    "get_all_free_blocks",
    "iter_blocks_after",
}
_BLOCKS, _STEPS = 48, 400


def find_queue_fault() -> str | None:
    """Returns what is wrong, or None if the queue can be relied on. Takes about ten milliseconds."""
    offered = {name for name in vars(FreeKVCacheBlockQueue) if not name.startswith("_")}
    if offered != _KNOWN:
        return f"this vLLM's queue of free blocks has other operations: {', '.join(sorted(offered ^ _KNOWN))}"
    try:
        return _play(lambda: 0, is_stock_order=True) or _play(None, is_stock_order=False)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _play(level: object, *, is_stock_order: bool) -> str | None:
    """Applies the same random operations to vLLM's queue and ours. With a single level, both must match exactly."""
    chance = random.Random(0)
    levels = [0 if level else chance.randrange(MOST_LEVEL + 1) for _ in range(_BLOCKS)]
    stock = FreeKVCacheBlockQueue(own := [KVCacheBlock(i) for i in range(_BLOCKS)])
    other = [KVCacheBlock(i) for i in range(_BLOCKS)]
    hot = HotFreeQueue.take_over(FreeKVCacheBlockQueue(other), lambda block: levels[block.block_id], _BLOCKS)
    sides = ((stock, own), (hot, other))
    used: list[int] = []
    for _ in range(_STEPS):
        free = [block.block_id for block in hot.get_all_free_blocks()]
        if len(free) != hot.num_free_blocks or sorted([*free, *used]) != list(range(_BLOCKS)):
            return "its count is not that of its blocks"
        if is_stock_order and free != [block.block_id for block in stock.get_all_free_blocks()]:
            return "its order is not vLLM's where all are equally hot"
        if free != [block.block_id for block in hot.iter_blocks_after(None)]:
            return "its blocks are not linked as vLLM's"
        move = chance.randrange(4)
        if move == 0 and free:
            count = chance.randrange(1, len(free) + 1)
            taken = hot.popleft_n(count) if count > 1 else [hot.popleft()]
            used += [block.block_id for block in taken]
            if [block.block_id for block in taken] != free[:count]:
                return "it hands out others than come first"
            for block in taken:
                stock.remove(own[block.block_id])
        elif move == 1 and free:
            one = chance.choice(free)
            for queue, blocks in sides:
                queue.remove(blocks[one])
            used.append(one)
        elif used:
            chance.shuffle(used)
            count = chance.randrange(1, len(used) + 1)
            back, used = used[:count], used[count:]
            for queue, blocks in sides:
                given = [blocks[one] for one in back]
                if move == 2:
                    queue.prepend_n(given)
                elif count > 1:
                    queue.append_n(given)
                else:
                    queue.append(given[0])
    return None
