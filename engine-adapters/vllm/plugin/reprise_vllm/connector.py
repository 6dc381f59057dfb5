"""The KV connector: vLLM reports requests and blocks to it, and it fills the blocks that are reused."""

from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole, SupportsHMA

from reprise_settings.reuse_settings import read_settings
from reprise_vllm import register_connector
from reprise_vllm.scheduler_side import SchedulerSide
from reprise_vllm.select_pages.page_worker import forget_worker, page_worker
from reprise_vllm.select_pages.settings import settings_of
from reprise_vllm.usage.engine_metrics import ReuseMetrics, ReuseStats
from reprise_vllm.usage.prompt_tokens_details import report_in_usage
from reprise_vllm.worker_side import WorkerSide

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats
    from vllm.v1.kv_cache_interface import KVCacheConfig


class RepriseConnector(SchedulerSide, WorkerSide, SupportsHMA):
    """
    Reports the length of each request's cached prefix to reprise, using the eviction callbacks.

    With `"reuse"` in its extra configuration it also reuses keys and values at any position (`reprise_vllm.reuse`).
    With `"pages"`, requests may have attention read only the pages that matter (`reprise_vllm.select_pages`).
    """

    def __init__(self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig") -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        extra = self._kv_transfer_config.kv_connector_extra_config
        pages, reuse = settings_of(vllm_config), read_settings(extra)
        if role is KVConnectorRole.SCHEDULER:
            self._begin_scheduler(extra, reuse, pages)
        else:
            self._begin_worker(reuse)

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    def get_kv_connector_stats(self) -> "KVConnectorStats | None":
        if self.role is KVConnectorRole.SCHEDULER:
            return self._take_stats()
        worker = page_worker(self._vllm_config)
        # vLLM adds up what ranks count, and those of a stage count the same
        if worker is None or not _is_first_of_last_stage(self._vllm_config) or not (counts := worker.take_counts()):
            return None
        return ReuseStats({"/".join(name): count for name, count in counts.items()})

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> "KVConnectorStats | None":
        return ReuseStats(data or {})

    @classmethod
    def build_prom_metrics(cls, *arguments: Any) -> "KVConnectorPromMetrics | None":
        report_in_usage()
        return ReuseMetrics(*arguments)

    def shutdown(self) -> None:
        forget_worker(self._vllm_config)
        if self.role is KVConnectorRole.SCHEDULER:
            if self._reporting is not None:
                self._reporting.end()
        elif self._on_worker is not None:
            self._on_worker.tiers.close()


def _is_first_of_last_stage(config: "VllmConfig") -> bool:
    """Whether this rank is the first one of the last pipeline stage, to which alone model runner V2 gives requests."""
    parallel = config.parallel_config
    stage = parallel.tensor_parallel_size * parallel.prefill_context_parallel_size
    stages = parallel.pipeline_parallel_size
    return parallel.rank % (stage * stages) == stage * (stages - 1)


# where the entry point is not loaded, MultiConnector asks for its children's statistics by this name
register_connector()
