"""The KV connector: vLLM reports requests and blocks to it, and it fills the blocks that are reused."""

from functools import reduce
from typing import TYPE_CHECKING, Any

import vllm
from vllm.distributed.kv_transfer import get_kv_transfer_group
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    SupportsHMA,
)
from vllm.logger import init_logger

from reprise_settings import say_tested
from reprise_settings.reuse_settings import read_settings
from reprise_vllm import register_connector
from reprise_vllm.checkpoints.borders import Borders, start_borders
from reprise_vllm.engine import TESTED
from reprise_vllm.engine.model_parts import remember_runner
from reprise_vllm.hotness.eviction import HotEviction, start_eviction, wants_hotness
from reprise_vllm.known_settings import warn_of_unknown
from reprise_vllm.reporting.cache_watcher import Reuse
from reprise_vllm.reporting.start_reporting import Reporting, ends_reporting, start_reporting
from reprise_vllm.reuse.messages import RepriseMetadata, StartReport, WorkerReport
from reprise_vllm.reuse.scheduler.scheduler_side import SchedulerSide
from reprise_vllm.reuse.scheduler.start_scheduler import start_scheduler
from reprise_vllm.reuse.worker.worker_side import WorkerSide
from reprise_vllm.select_pages.scheduler.private_answers import PrivateAnswers
from reprise_vllm.select_pages.scheduler.request_figures import RequestFigures
from reprise_vllm.select_pages.wishes.settings import settings_of
from reprise_vllm.select_pages.worker.page_worker import forget_worker, page_worker
from reprise_vllm.usage.engine_metrics import ReuseMetrics, ReuseStats
from reprise_vllm.usage.figures import RECOMPUTED
from reprise_vllm.usage.prompt_tokens_details import report_in_usage

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.distributed.kv_transfer.kv_connector.v1.base import (
        KVConnectorHandshakeMetadata,
        KVConnectorWorkerMetadata,
    )
    from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats
    from vllm.forward_context import ForwardContext
    from vllm.v1.attention.backend import AttentionMetadata
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks, KVCacheManager
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.outputs import KVConnectorOutput
    from vllm.v1.request import Request

logger = init_logger("vllm.reprise")

_NOTHING = RepriseMetadata()


class RepriseConnector(KVConnectorBase_V1, SupportsHMA):
    """
    Reports the length of each request's cached prefix to reprise, using the eviction callbacks.

    With `"reuse"` in its extra configuration it also reuses keys and values at any position (`reprise_vllm.reuse`).
    With `"pages"`, requests may have attention read only the pages that matter (`reprise_vllm.select_pages`).
    """

    def __init__(self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig") -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        self._reporting: Reporting | None = None
        self._on_scheduler = SchedulerSide(None, logger)
        self._on_worker: WorkerSide | None = None
        self._eviction: HotEviction | None = None
        self._borders = Borders(None, logger)
        self._facts: dict[str, Any] = {}
        """facts about the engine that snapshots carry"""
        extra = self._kv_transfer_config.kv_connector_extra_config
        if role is KVConnectorRole.SCHEDULER:
            say_tested("vLLM", vllm.__version__, TESTED, logger)
            warn_of_unknown(extra, logger)
        self._wants_hotness = wants_hotness(extra) and role is KVConnectorRole.SCHEDULER
        pages = settings_of(vllm_config)
        self._answers = PrivateAnswers(pages, logger) if pages and role is KVConnectorRole.SCHEDULER else None
        self._pages = None if self._answers is None else RequestFigures()
        if pages:
            # connectors are not given the model runner, and one selector needs the model's rotary embedding
            remember_runner()
        if (settings := read_settings(extra)) is None:
            return
        if role is KVConnectorRole.SCHEDULER:
            reuse = start_scheduler(vllm_config, kv_cache_config, settings, logger)
            self._on_scheduler = SchedulerSide(reuse, logger, is_wanted=True)
        else:
            # must come before this process's runner registers its caches
            remember_runner()
            self._on_worker = WorkerSide(vllm_config, kv_cache_config, settings, logger)

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    def bind_gpu_block_pool(self, gpu_block_pool: "BlockPool") -> None:
        if self.role is not KVConnectorRole.SCHEDULER or self._reporting is not None:
            return
        self._on_scheduler.watch(gpu_block_pool)
        if self._wants_hotness and self._eviction is None:
            self._eviction = start_eviction(gpu_block_pool, self._kv_cache_config, logger)
        try:
            self._reporting = start_reporting(self._vllm_config, self._kv_cache_config, gpu_block_pool, logger)
        except Exception:
            logger.exception("reprise: nothing is reported because of a fault in the plugin; the engine goes on")

    def bind_kv_cache_manager(self, kv_cache_manager: "KVCacheManager") -> None:
        super().bind_kv_cache_manager(kv_cache_manager)
        self._on_scheduler.watch_resets(kv_cache_manager)
        if self._reporting is not None:
            # only the proxy that is reported to can set borders
            self._borders = start_borders(kv_cache_manager, self._vllm_config, logger)
            if facts := self._borders.facts or self._reporting.facts:
                self._describe({"checkpoints": facts})

    def bind_scheduler_context(self, context: Any) -> None:
        """Replaces `bind_gpu_block_pool` in later vLLM releases."""
        pool = getattr(context, "gpu_block_pool", None)
        if pool is None:
            logger.error("reprise: this vLLM hands no block pool to connectors, so nothing is reported")
            return
        self.bind_gpu_block_pool(pool)

    def update_state_after_alloc(self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int) -> None:
        self._on_scheduler.allocated(request, blocks, num_external_tokens)
        self._scheduled(request)

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        self._end_step()
        self._borders.end_step(scheduler_output)
        step = self._on_scheduler.end_step(scheduler_output)
        return _NOTHING if step is None else RepriseMetadata(step)

    def on_new_request(self, request: "Request") -> None:
        self._on_scheduler.begin(request)
        self._borders.begin(request)
        if self._answers is not None:
            self._answers.begin(request)
            self._pages.begin(request)

    def update_connector_output(self, connector_output: "KVConnectorOutput") -> None:
        report = connector_output.kv_connector_worker_meta
        if self._pages is not None:
            self._pages.heard(report.pages if isinstance(report, WorkerReport) else None)
        self._hear(report)

    def take_events(self) -> tuple[()]:
        # called after a step's output has been processed, which evicts blocks whose load failed
        self._on_scheduler.answered()
        self._end_step()
        return ()

    def request_finished(self, request: "Request", block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return False, self._end(request)

    def request_finished_all_groups(
        self, request: "Request", block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        return False, self._end(request)

    def get_num_new_matched_tokens(self, request: "Request", num_computed_tokens: int) -> tuple[int | None, bool]:
        self._borders.place(request, num_computed_tokens)
        return self._on_scheduler.claim(request, num_computed_tokens)

    def reset_cache(self) -> bool | None:
        self._on_scheduler.reset()
        return True

    def get_kv_connector_stats(self) -> "KVConnectorStats | None":
        if self.role is KVConnectorRole.SCHEDULER:
            return self._borders.add_counts(self._on_scheduler.take_stats())
        counts = worker.take_counts() if (worker := page_worker(self._vllm_config)) is not None else None
        return ReuseStats({"/".join(name): count for name, count in counts.items()}) if counts else None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> "KVConnectorStats | None":
        return ReuseStats(data or {})

    @classmethod
    def build_prom_metrics(cls, *arguments: Any) -> "KVConnectorPromMetrics | None":
        report_in_usage()
        return ReuseMetrics(*arguments)

    def shutdown(self) -> None:
        forget_worker(self._vllm_config)
        if self._on_worker is not None:
            self._on_worker.close()
        reporting, self._reporting = self._reporting, None
        if reporting is not None:
            reporting.end(wait=True)

    def register_kv_caches(self, kv_caches: "dict[str, torch.Tensor]") -> None:
        if self._on_worker is not None:
            self._on_worker.register(kv_caches)

    def get_handshake_metadata(self) -> "KVConnectorHandshakeMetadata | None":
        # vLLM calls this once the model is loaded and warmed up: a good time for the self-test
        if self._on_worker is None:
            return None
        self._on_worker.prove()
        if get_kv_transfer_group() is not self:
            # beside other connectors, vLLM would give these our report, and would not ask them for theirs
            return None
        report = self._on_worker.take_report()
        return None if report is None else StartReport(report)

    def set_xfer_handshake_metadata_pp_aware(
        self, metadata: "dict[tuple[int, int], KVConnectorHandshakeMetadata]"
    ) -> None:
        reports = [one.report for one in metadata.values() if isinstance(one, StartReport)]
        if reports:
            self._hear(reduce(WorkerReport.aggregate, reports))

    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None:
        # called in every step, while reallocated blocks still hold their old contents
        if self._on_worker is not None:
            self._on_worker.prepare(kv_connector_metadata.reuse)

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:
        if self._on_worker is not None:
            self._on_worker.begin_step(self._get_connector_metadata().reuse)

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        return None, (self._on_worker.take_loaded() or None) if self._on_worker else None

    def get_transfer_results(self, finished_req_ids: set[str]) -> Any:
        results = super().get_transfer_results(finished_req_ids)
        results.failed_recving |= self._on_worker.take_failed_requests() if self._on_worker else set()
        return results

    def get_block_ids_with_load_errors(self) -> set[int]:
        return self._on_worker.take_failed_blocks() if self._on_worker else set()

    def build_connector_worker_meta(self) -> "KVConnectorWorkerMetadata | None":
        report = self._on_worker.take_report() if self._on_worker else None
        pages = worker.rows.report() if (worker := page_worker(self._vllm_config)) is not None else None
        if pages is None:
            return report
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
        if self._on_worker is not None:
            self._on_worker.save(self._get_connector_metadata().reuse)

    def _hear(self, report: Any) -> None:
        if self._on_scheduler.heard(report):
            self._describe({"reuse": self._on_scheduler.offer})

    @ends_reporting
    def _describe(self, facts: dict[str, Any]) -> None:
        self._facts = self._facts | facts
        self._reporting.sender.describe(self._facts)

    @ends_reporting
    def _scheduled(self, request: "Request") -> None:
        self._reporting.watcher.scheduled(request, self._exact_part(request))

    @ends_reporting
    def _end_step(self) -> None:
        self._reporting.watcher.end_step()

    def _end(self, request: "Request") -> dict[str, Any] | None:
        self._finished(request)
        recomputed = self._on_scheduler.finished(request)
        self._borders.finished(request)
        if self._eviction is not None and not self._eviction.finished(request):
            self._eviction = None
        if self._answers is not None:
            self._answers.finished(request)
        figures = {RECOMPUTED: recomputed} if recomputed else {}
        pages = None if self._pages is None else self._pages.finished(request)
        return figures | (pages or {}) or None

    @ends_reporting
    def _finished(self, request: "Request") -> None:
        self._reporting.watcher.finished(request, self._exact_part(request))

    def _exact_part(self, request: "Request") -> Reuse | None:
        reuse = self._on_scheduler.reuse_of(request)
        return reuse if self._answers is None else self._answers.exact_part(request, reuse)


# where the entry point is not loaded, MultiConnector asks for its children's statistics by this name
register_connector()
