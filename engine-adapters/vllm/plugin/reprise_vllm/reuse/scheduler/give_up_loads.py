"""Gives up loads that are open, so that vLLM can reset its prefix cache."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from reprise_vllm.engine.cache_resets import free_blocks, is_loading, is_running
from reprise_vllm.reuse.scheduler.asked import Asked

if TYPE_CHECKING:
    from vllm.v1.core.kv_cache_manager import KVCacheManager


def give_up_loads(manager: "KVCacheManager", requests: Collection[Asked]) -> list[Asked]:
    """Takes the blocks of all loading requests away, unless one is running: then vLLM resets nothing. Returns them."""
    if is_running(asked.request for asked in requests):
        return []
    given_up = [asked for asked in requests if asked.is_loading and is_loading(asked.request)]
    for asked in given_up:
        free_blocks(manager, asked.request)
        asked.is_loading = asked.is_counted = False
    return given_up
