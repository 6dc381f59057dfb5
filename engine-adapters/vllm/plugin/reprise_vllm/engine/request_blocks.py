"""What reuse changes of vLLM's blocks: those of windows are kept for it, and those of loads freed before a reset."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

from vllm.v1.request import RequestStatus

from reprise_settings import NotSupportedError

if TYPE_CHECKING:
    from vllm.v1.core.kv_cache_manager import KVCacheManager
    from vllm.v1.core.single_type_kv_cache_manager import SingleTypeKVCacheManager
    from vllm.v1.request import Request

_OF_A_REQUEST = (
    "get_num_blocks_to_allocate", "add_local_computed_blocks", "allocate_external_computed_blocks",
    "remove_skipped_blocks",
)  # fmt: skip
"""what managers do for a request, whose id comes first, and by `get_num_skipped_tokens` decide for which tokens"""


class WindowBlocks:
    """
    Of a request that is held, vLLM treats layers with windows as if it had not got beyond a certain row.

    So it allocates blocks for all rows from there on, as for a prompt that it computes, and gives none of them back. A
    request is held from its claim until its rows are stored, and needs room for that.
    """

    def __init__(self) -> None:
        self._manager: KVCacheManager | None = None
        self._held: dict[str, int] = {}

    def bind(self, manager: "KVCacheManager") -> None:
        """Watches these layers' managers. Raises `NotSupportedError` if this vLLM's work in another way."""
        from vllm.v1.outputs import KVConnectorOutput

        if not hasattr(KVConnectorOutput(), "failed_recving"):
            raise NotSupportedError("this vLLM cannot be told of requests whose load failed")
        of_windows = [
            one
            for one in manager.coordinator.single_type_managers
            if getattr(one.kv_cache_spec, "sliding_window", None) is not None
        ]
        for one in of_windows:
            missing = [name for name in (*_OF_A_REQUEST, "get_num_skipped_tokens") if not hasattr(one, name)]
            if missing:
                raise NotSupportedError(f"layers with windows have no {', '.join(missing)} in this vLLM")
            self._watch(one)
        self._manager = manager

    def hold(self, request: Any, begin: int) -> bool:
        """Holds the blocks of rows from `begin` on, from the request's next allocation until `release`.

        Returns False if it might not fit: then vLLM would ask again and again.
        """
        if self._manager is None:
            return False
        groups = self._manager.coordinator.single_type_managers
        needed = sum(-(-request.num_tokens // one.block_size) for one in groups)
        if needed > self._manager.block_pool.get_num_free_blocks():
            return False
        self._held[request.request_id] = begin
        return True

    def release(self, request_id: str) -> int | None:
        """Returns from which row on the request was held; None if it was not."""
        return self._held.pop(request_id, None)

    def _watch(self, manager: "SingleTypeKVCacheManager") -> None:
        skipped, at_most = manager.get_num_skipped_tokens, [None]

        def get_num_skipped_tokens(computed: int) -> int:
            return skipped(computed if at_most[0] is None else min(computed, at_most[0]))

        def for_request(method: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(method)
            def limited(request_id: str, *arguments: Any, **named: Any) -> Any:
                at_most[0] = self._held.get(request_id)
                try:
                    return method(request_id, *arguments, **named)
                finally:
                    at_most[0] = None

            return limited

        manager.get_num_skipped_tokens = get_num_skipped_tokens
        for name in _OF_A_REQUEST:
            setattr(manager, name, for_request(getattr(manager, name)))


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
