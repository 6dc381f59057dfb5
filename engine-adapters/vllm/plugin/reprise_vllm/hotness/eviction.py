"""Evicts blocks by how often they were requested, if the operator asks for it and this vLLM allows it."""

from collections.abc import Mapping
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_hotness import POLICIES
from reprise_hotness.tracker import HotnessTracker
from reprise_vllm.engine.contained import contained

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

KEY = "eviction"


class EvictionSettingError(ValueError):
    """An invalid setting; the message names the valid values."""


def wants_hotness(extra: Mapping[str, Any]) -> bool:
    """Returns whether the operator chose HotPrefix. Raises `EvictionSettingError` for an unknown policy."""
    policy = extra.get(KEY) or "stock"
    if policy not in POLICIES:
        raise EvictionSettingError(f"{KEY} is {policy!r}, it must be one of {', '.join(POLICIES)}")
    return policy == "hotprefix"


class HotEviction:
    """The scheduler's side: counts how often blocks are requested, and orders freed blocks by that count."""

    def __init__(self, pool: "BlockPool", logger: Logger) -> None:
        from vllm.v1.core.kv_cache_utils import get_block_hash

        from reprise_vllm.hotness.free_queue import MOST_LEVEL, HotFreeQueue

        self._logger = logger
        self._hash_of = get_block_hash
        self._most = MOST_LEVEL
        self._block_size = pool.hash_block_size
        self._counts = True
        self._tracker = HotnessTracker(max(65_536, 4 * len(pool.blocks)))
        self._free = HotFreeQueue(pool.free_block_queue, self._level_of, len(pool.blocks))
        pool.free_block_queue = self._free

    @contained("counting")
    def finished(self, request: "Request") -> None:
        """Counts the blocks of a request that ends; vLLM frees them next."""
        if self._counts:
            for block in request.block_hashes[: request.num_computed_tokens // self._block_size]:
                self._tracker.use(block)

    def give_up(self, _: str) -> None:
        """Counts nothing more after a fault: all blocks are as hot as each other from then on."""
        self._logger.exception("reprise: what is asked for is not counted any more; blocks go by their last use")
        self._counts = False
        self._free.append_n(self._free.popleft_n(self._free.num_free_blocks))

    def _level_of(self, block: "KVCacheBlock") -> int:
        if not self._counts:
            return 0
        key = block.block_hash
        # vLLM appends a block without a hash only if it is still being read: evict it last
        return self._most if key is None else self._tracker.heat_of(self._hash_of(key)).frequency


def start_eviction(pool: "BlockPool", cache_config: "KVCacheConfig", logger: Logger) -> HotEviction | None:
    """Replaces the pool's queue. Returns None, and logs an error, if vLLM's own queue has to stay."""
    try:
        fault = _find_fault(pool, cache_config)
        if fault is None:
            eviction = HotEviction(pool, logger)
            logger.info("reprise: what is asked for often is evicted last (HotPrefix)")
            return eviction
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    logger.error("reprise: eviction by hotness is asked for and is NOT on, vLLM evicts as ever: %s", fault)
    return None


def _find_fault(pool: "BlockPool", cache_config: "KVCacheConfig") -> str | None:
    from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue

    from reprise_vllm.hotness.free_queue import OPERATIONS
    from reprise_vllm.reporting.watched_group import find_watched_group

    if not pool.enable_caching:
        return "prefix caching is off (--enable-prefix-caching)"
    if type(pool.free_block_queue) is not FreeKVCacheBlockQueue:
        return f"the block pool has a queue of another kind ({type(pool.free_block_queue).__name__})"
    other = OPERATIONS ^ {name for name in vars(FreeKVCacheBlockQueue) if not name.startswith("_")}
    if other:
        return f"this vLLM's queue of free blocks has other operations: {', '.join(sorted(other))}"
    group = find_watched_group(cache_config, pool)
    if group is None or not group.is_alone:
        return "this model has layers that do not attend to the whole context, or blocks of several sizes"
    return None
