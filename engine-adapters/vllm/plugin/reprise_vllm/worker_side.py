"""What vLLM's workers call a connector for: its pages, and loads and stores around a step's forward."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer import get_kv_transfer_group
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorHandshakeMetadata,
    KVConnectorMetadata,
)
from vllm.logger import init_logger

from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.model_parts import remember_runner
from reprise_vllm.select_pages.page_worker import page_worker

if TYPE_CHECKING:
    import torch
    from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorWorkerMetadata
    from vllm.forward_context import ForwardContext
    from vllm.v1.attention.backend import AttentionMetadata

    from reprise_vllm.reuse.messages import ReuseStep, WorkerReport
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

logger = init_logger("vllm.reprise")


class RepriseMetadata(KVConnectorMetadata):
    """A step's message to the workers. In most steps it is empty."""

    def __init__(self, reuse: "ReuseStep | None" = None) -> None:
        self.reuse = reuse


@dataclass
class StartReport(KVConnectorHandshakeMetadata):
    """A rank's first report, which vLLM hands over at the start, before any request."""

    report: "WorkerReport"


class WorkerSide(KVConnectorBase_V1):
    """The connector's methods that vLLM calls in its workers."""

    def _begin_worker(self, reuse: ReuseSettings | None) -> None:
        self._settings = reuse
        self._on_worker: ReuseWorker | None = None
        self._caches: dict[str, torch.Tensor] | None = None
        """the engine's pages, by layer, until the self-test of reuse"""
        self._start_report: WorkerReport | None = None
        if reuse is not None:
            # connectors are not given the model runner; must come before it registers its caches
            remember_runner()

    def register_kv_caches(self, kv_caches: "dict[str, torch.Tensor]") -> None:
        self._caches = None if self._settings is None else kv_caches

    def get_handshake_metadata(self) -> KVConnectorHandshakeMetadata | None:
        # vLLM calls this once the model is loaded and warmed up: a good time for the self-test
        self._start_worker()
        if get_kv_transfer_group() is not self:
            # beside other connectors, vLLM would give these our report, and would not ask them for theirs
            return None
        report = self._take_report()
        return None if report is None else StartReport(report)

    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None:
        # called in every step, while reallocated blocks still hold their old contents
        if self._on_worker is not None:
            self._on_worker.prepare(_step_of(kv_connector_metadata))

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:
        # with several connectors, vLLM may not call `get_handshake_metadata` on this one
        self._start_worker()
        if self._on_worker is not None:
            self._on_worker.begin_step(_step_of(self._get_connector_metadata()))

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        return None, (self._on_worker.take_loaded() or None) if self._on_worker else None

    def get_transfer_results(self, finished_req_ids: set[str]) -> Any:
        results = super().get_transfer_results(finished_req_ids)
        results.failed_recving |= self._on_worker.failed.take_requests() if self._on_worker else set()
        return results

    def get_block_ids_with_load_errors(self) -> set[int]:
        return self._on_worker.failed.take_blocks() if self._on_worker else set()

    def build_connector_worker_meta(self) -> "KVConnectorWorkerMetadata | None":
        report = self._take_report()
        worker = page_worker(self._vllm_config)
        if worker is None or not (pages := worker.rows.take_figures()):
            return report
        from reprise_vllm.reuse.messages import WorkerReport

        report = report or WorkerReport()
        report.pages = pages
        return report

    def wait_for_layer_load(self, layer_name: str) -> None:
        return

    def save_kv_layer(
        self, layer_name: str, kv_layer: "torch.Tensor", attn_metadata: "AttentionMetadata", **kwargs: Any
    ) -> None:
        return

    def wait_for_save(self) -> None:
        if self._on_worker is not None and (step := self._get_connector_metadata().reuse) is not None:
            self._on_worker.save(step)

    def _start_worker(self) -> None:
        """Starts to reuse in a worker if its self-test passes. Otherwise the engine runs as without reuse."""
        if self._caches is None:
            return
        from reprise_vllm.reuse.messages import WorkerReport
        from reprise_vllm.reuse.worker.start_worker import start_worker

        caches, self._caches = self._caches, None
        started = start_worker(self._vllm_config, self._kv_cache_config, caches, self._settings, logger)
        if isinstance(started, WorkerReport):
            self._start_report = started
        else:
            self._on_worker = started

    def _take_report(self) -> "WorkerReport | None":
        if self._on_worker is not None:
            return self._on_worker.take_report()
        report, self._start_report = self._start_report, None
        return report


def _step_of(metadata: RepriseMetadata) -> "ReuseStep":
    from reprise_vllm.reuse.messages import ReuseStep

    return metadata.reuse or ReuseStep()
