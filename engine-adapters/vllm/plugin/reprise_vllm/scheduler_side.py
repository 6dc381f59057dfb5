"""What vLLM's scheduler calls a connector for: requests, blocks, steps, and what workers report."""

from collections import Counter
from collections.abc import Mapping
from functools import reduce
from logging import Logger
from typing import TYPE_CHECKING, Any

import vllm
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorHandshakeMetadata,
    KVConnectorMetadata,
    KVConnectorRole,
)
from vllm.logger import init_logger

from reprise_settings import hint_at, reuse_settings, say_tested
from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.checkpoints.borders import Borders, start_borders
from reprise_vllm.engine import TESTED
from reprise_vllm.hotness import eviction
from reprise_vllm.hotness.eviction import HotEviction, start_eviction, wants_hotness
from reprise_vllm.reporting.cache_watcher import CacheWatcher, Reuse
from reprise_vllm.reporting.start_reporting import start_reporting
from reprise_vllm.select_pages import settings as page_settings
from reprise_vllm.select_pages.page_scheduler import PageScheduler
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.usage.engine_metrics import ReuseStats
from reprise_vllm.usage.figures import RECOMPUTED
from reprise_vllm.worker_side import RepriseMetadata, StartReport

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks, KVCacheManager
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.outputs import KVConnectorOutput
    from vllm.v1.request import Request

    from reprise_vllm.reuse.messages import WorkerReport
    from reprise_vllm.reuse.scheduler.reuse_scheduler import ReuseScheduler

logger = init_logger("vllm.reprise")

_SETTINGS = (reuse_settings.KEY, page_settings.KEY, eviction.KEY)
"""the keys of `kv_connector_extra_config` that this plugin reads"""
_NOTHING = RepriseMetadata()


class SchedulerSide(KVConnectorBase_V1):
    """The connector's methods that vLLM calls in its scheduler."""

    def _begin_scheduler(self, extra: dict[str, Any], reuse: ReuseSettings | None, pages: PageSettings | None) -> None:
        say_tested("vLLM", vllm.__version__, TESTED, logger)
        warn_of_unknown(extra, logger)
        self._reporting: CacheWatcher | None = None
        self._on_scheduler: ReuseScheduler | None = None
        self._offered: dict[str, float | bool] | None = None
        """what the proxy was told last of reuse"""
        self._wants_hotness = wants_hotness(extra)
        self._eviction: HotEviction | None = None
        self._counts: Counter[str] = Counter()
        """what was counted here since it was collected last"""
        self._borders = Borders(None, logger, self._counts)
        self._pages = PageScheduler(pages, logger) if pages else None
        self._wants_reuse = reuse is not None
        if reuse is not None:
            from reprise_vllm.reuse.scheduler.start_scheduler import start_scheduler

            self._on_scheduler = start_scheduler(self._vllm_config, self._kv_cache_config, reuse, logger)

    def bind_gpu_block_pool(self, gpu_block_pool: "BlockPool") -> None:
        if self.role is not KVConnectorRole.SCHEDULER or self._reporting is not None:
            return
        if self._on_scheduler is not None:
            self._on_scheduler.watch(gpu_block_pool)
        if self._wants_hotness and self._eviction is None:
            self._eviction = start_eviction(gpu_block_pool, self._kv_cache_config, logger)
        try:
            self._reporting = start_reporting(self._vllm_config, self._kv_cache_config, gpu_block_pool, logger)
        except Exception:
            logger.exception("reprise: nothing is reported because of a fault in the plugin; the engine goes on")

    def bind_kv_cache_manager(self, kv_cache_manager: "KVCacheManager") -> None:
        super().bind_kv_cache_manager(kv_cache_manager)
        if self._on_scheduler is not None and kv_cache_manager is not None:
            self._on_scheduler.watch_manager(kv_cache_manager)
        if self._reporting is not None:
            # only the proxy that is reported to can set borders
            self._borders = start_borders(kv_cache_manager, self._vllm_config, logger, self._counts)
            if facts := self._borders.facts or self._reporting.checkpoints:
                self._reporting.describe({"checkpoints": facts})

    def bind_scheduler_context(self, context: Any) -> None:
        """Replaces `bind_gpu_block_pool` in later vLLM releases."""
        pool = getattr(context, "gpu_block_pool", None)
        if pool is None:
            logger.error("reprise: this vLLM hands no block pool to connectors, so nothing is reported")
            return
        self.bind_gpu_block_pool(pool)

    def update_state_after_alloc(self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int) -> None:
        if self._on_scheduler is not None:
            self._on_scheduler.allocated(request, blocks, num_external_tokens)
        if self._reporting is not None:
            self._reporting.scheduled(request, self._exact_part(request))

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        if self._reporting is not None:
            self._reporting.end_step()
        self._borders.end_step(scheduler_output)
        step = None if self._on_scheduler is None else self._on_scheduler.end_step(scheduler_output)
        return _NOTHING if step is None else RepriseMetadata(step)

    def on_new_request(self, request: "Request") -> None:
        if self._on_scheduler is not None:
            self._on_scheduler.begin(request)
        elif self._wants_reuse:
            self._counts["stock/unsupported"] += 1
        self._borders.begin(request)
        if self._pages is not None:
            self._pages.begin(request)

    def update_connector_output(self, connector_output: "KVConnectorOutput") -> None:
        report = connector_output.kv_connector_worker_meta
        if self._pages is not None:
            self._pages.heard({} if report is None else report.pages)
        self._hear(report)

    def take_events(self) -> tuple[()]:
        # called after a step's output has been processed, which evicts blocks whose load failed
        if self._on_scheduler is not None:
            self._on_scheduler.answered()
            self._tell_offer(self._on_scheduler)
        if self._reporting is not None:
            self._reporting.end_step()
        return ()

    def request_finished(self, request: "Request", block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return False, self._end(request)

    def request_finished_all_groups(
        self, request: "Request", block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        return False, self._end(request)

    def get_num_new_matched_tokens(self, request: "Request", num_computed_tokens: int) -> tuple[int | None, bool]:
        self._borders.place(request, num_computed_tokens)
        return (0, False) if self._on_scheduler is None else self._on_scheduler.claim(request, num_computed_tokens)

    def reset_cache(self) -> bool | None:
        if self._on_scheduler is not None:
            self._on_scheduler.reset()
        return True

    def set_xfer_handshake_metadata_pp_aware(
        self, metadata: dict[tuple[int, int], KVConnectorHandshakeMetadata]
    ) -> None:
        reports = [one.report for one in metadata.values() if isinstance(one, StartReport)]
        if reports:
            self._hear(reduce(lambda one, other: one.aggregate(other), reports))

    def _take_stats(self) -> ReuseStats | None:
        stats = ReuseStats(dict(self._counts))
        self._counts.clear()
        if self._on_scheduler is not None:
            stats.aggregate(self._on_scheduler.observations.take())
        return None if stats.is_empty() else stats

    def _hear(self, report: "WorkerReport | None") -> None:
        reuse = self._on_scheduler
        if reuse is None or report is None:
            return
        reuse.heard(report)
        self._tell_offer(reuse)

    def _tell_offer(self, reuse: "ReuseScheduler") -> None:
        if reuse.offer != self._offered and self._reporting is not None:
            self._offered = reuse.offer
            self._reporting.describe({"reuse": reuse.offer})

    def _end(self, request: "Request") -> dict[str, Any] | None:
        if self._reporting is not None:
            self._reporting.finished(request, self._exact_part(request))
        recomputed = 0 if self._on_scheduler is None else self._on_scheduler.finished(request)
        self._borders.finished(request)
        if self._eviction is not None:
            self._eviction.finished(request)
        figures = {RECOMPUTED: recomputed} if recomputed else {}
        if self._pages is not None:
            figures |= self._pages.finished(request)
        return figures or None

    def _exact_part(self, request: "Request") -> Reuse | None:
        reuse = None if self._on_scheduler is None else self._on_scheduler.reuse_of(request)
        return reuse if self._pages is None else self._pages.exact_part(request, reuse)


def warn_of_unknown(extra: Mapping[str, Any], logger: Logger) -> None:
    """Warns about unknown keys: a misspelt key would otherwise silently leave a feature off."""
    for key in extra:
        if key not in _SETTINGS:
            logger.warning(
                "reprise: kv_connector_extra_config.%s is no setting of RepriseConnector; %s",
                *(key, hint_at(key, _SETTINGS)),
            )
