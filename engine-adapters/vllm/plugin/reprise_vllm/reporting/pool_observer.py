"""Observes evictions through the hook of vLLM's own residency metrics."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock


class PoolObserver:
    """Replaces the block pool's metrics collector, and forwards everything to the collector that was there before."""

    def __init__(
        self, pool: "BlockPool", on_evicted: Callable[["KVCacheBlock"], None], on_reset: Callable[[], None]
    ) -> None:
        """on_evicted: called when a block is handed out; it still has its hash, or none if it was never full"""
        self._pool = pool
        self._found = pool.metrics_collector
        self._on_evicted = on_evicted
        self._on_reset = on_reset
        if self._found is None:
            # called for every block: a builtin costs a fifth of what an empty method costs
            self.on_block_allocated = self.on_block_accessed = id
        else:
            self.on_block_allocated = self._found.on_block_allocated
            self.on_block_accessed = self._found.on_block_accessed
        pool.metrics_collector = self

    def on_block_evicted(self, block: "KVCacheBlock") -> None:
        self._on_evicted(block)
        if self._found is not None:
            self._found.on_block_evicted(block)

    def reset(self) -> None:
        self._on_reset()
        if self._found is not None:
            self._found.reset()

    def detach(self) -> None:
        """Restores the pool's previous collector."""
        if self._pool.metrics_collector is self:
            self._pool.metrics_collector = self._found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)
