"""Lets reuse give up its open loads before vLLM resets its prefix cache."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from vllm.v1.request import RequestStatus

if TYPE_CHECKING:
    from vllm.v1.core.kv_cache_manager import KVCacheManager
    from vllm.v1.request import Request


def before_resets(manager: "KVCacheManager", prepare: Callable[[], None]) -> None:
    """Has `prepare` run before each reset of a prefix cache. vLLM calls no connector before it."""
    reset = manager.reset_prefix_cache

    def reset_prefix_cache() -> bool:
        prepare()
        return reset()

    manager.reset_prefix_cache = reset_prefix_cache


def is_running(requests: Iterable["Request"]) -> bool:
    """Whether any of these requests is running: then vLLM resets nothing."""
    return any(request.status == RequestStatus.RUNNING for request in requests)


def free_loading(manager: "KVCacheManager", request: "Request") -> bool:
    """Takes the blocks of a request away if it holds them only for a load of several steps; returns whether it did.

    Once its load is reported as ended, it is scheduled anew.
    """
    if request.status != RequestStatus.WAITING_FOR_REMOTE_KVS:
        return False
    manager.free(request)
    request.num_computed_tokens = 0
    return True
