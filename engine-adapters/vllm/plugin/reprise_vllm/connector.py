"""The KV connector by which vLLM tells us of requests and blocks. It moves no KV."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    SupportsHMA,
)
from vllm.logger import init_logger

from reprise_vllm.start_reporting import Reporting, start_reporting

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.forward_context import ForwardContext
    from vllm.v1.attention.backend import AttentionMetadata
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

logger = init_logger("vllm.reprise")


class RepriseMetadata(KVConnectorMetadata):
    """Nothing: workers have nothing to do."""


_NOTHING = RepriseMetadata()


def _never_throws(method: Callable[..., None]) -> Callable[..., None]:
    """A fault of ours ends the reports, not the engine."""

    @wraps(method)
    def guarded(self: "RepriseConnector", *arguments: Any) -> None:
        if self._reporting is None:
            return
        try:
            method(self, *arguments)
        except Exception:
            logger.exception("reprise: reporting ends because of a fault in the plugin; the engine goes on")
            reporting, self._reporting = self._reporting, None
            reporting.give_up()

    return guarded


class RepriseConnector(KVConnectorBase_V1, SupportsHMA):
    """Reports to reprise, by the eviction callbacks, how long the cached prefix of each request is."""

    def __init__(self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig") -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        self._reporting: Reporting | None = None

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    def bind_gpu_block_pool(self, gpu_block_pool: "BlockPool") -> None:
        if self.role is not KVConnectorRole.SCHEDULER or self._reporting is not None:
            return
        try:
            self._reporting = start_reporting(self._vllm_config, self._kv_cache_config, gpu_block_pool, logger)
        except Exception:
            logger.exception("reprise: nothing is reported because of a fault in the plugin; the engine goes on")

    def bind_scheduler_context(self, context: Any) -> None:
        """What takes the place of `bind_gpu_block_pool` in releases to come."""
        pool = getattr(context, "gpu_block_pool", None)
        if pool is None:
            logger.error("reprise: this vLLM hands no block pool to connectors, so nothing is reported")
            return
        self.bind_gpu_block_pool(pool)

    @_never_throws
    def update_state_after_alloc(self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int) -> None:
        self._reporting.watcher.scheduled(request)

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        self._end_step()
        return _NOTHING

    def take_events(self) -> tuple[()]:
        # called when a step's output has been processed: blocks whose load failed are evicted there
        self._end_step()
        return ()

    def request_finished(self, request: "Request", block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        self._finished(request)
        return False, None

    def request_finished_all_groups(
        self, request: "Request", block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        self._finished(request)
        return False, None

    def get_num_new_matched_tokens(self, request: "Request", num_computed_tokens: int) -> tuple[int | None, bool]:
        return 0, False

    def reset_cache(self) -> bool | None:
        return True

    def shutdown(self) -> None:
        reporting, self._reporting = self._reporting, None
        if reporting is not None:
            reporting.end(wait=True)

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:
        return

    def wait_for_layer_load(self, layer_name: str) -> None:
        return

    def save_kv_layer(
        self, layer_name: str, kv_layer: "torch.Tensor", attn_metadata: "AttentionMetadata", **kwargs: Any
    ) -> None:
        return

    def wait_for_save(self) -> None:
        return

    @_never_throws
    def _end_step(self) -> None:
        self._reporting.watcher.end_step()

    @_never_throws
    def _finished(self, request: "Request") -> None:
        self._reporting.watcher.finished(request)
