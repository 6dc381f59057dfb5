"""Reuse as the scheduler's connector calls it. If reuse is off or not possible, it does nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_vllm.engine.cache_resets import before_resets
from reprise_vllm.reporting.cache_watcher import Reuse
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport
from reprise_vllm.usage.engine_metrics import ReuseStats

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks, KVCacheManager
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request

    from reprise_vllm.reuse.scheduler.reuse_scheduler import ReuseScheduler


class SchedulerSide:
    """Reuse as the scheduler's connector calls it. A fault in our code ends reuse, not the engine."""

    def __init__(self, reuse: "ReuseScheduler | None", logger: Logger, *, is_wanted: bool = False) -> None:
        """is_wanted: the operator asked for reuse; if `reuse` is None nevertheless, each request counts as stock."""
        self._reuse = reuse
        self._logger = logger
        self._is_missed = is_wanted and reuse is None
        self._missed = 0

    @property
    def state(self) -> "ReuseScheduler | None":
        """The scheduler's side, or None if nothing is reused."""
        return self._reuse

    def watch(self, pool: "BlockPool") -> None:
        """Implements `bind_gpu_block_pool`."""
        with self._or_give_up("watching the block pool"):
            if self._reuse is not None:
                self._reuse.watch(pool)

    def watch_resets(self, manager: "KVCacheManager") -> None:
        """Implements `bind_kv_cache_manager`."""
        if self._reuse is not None and manager is not None:
            before_resets(manager, lambda: self._give_loads_back(manager))
            with self._or_give_up("watching the blocks of layers with windows"):
                self._reuse.watch_windows(manager)

    def _give_loads_back(self, manager: "KVCacheManager") -> None:
        with self._or_give_up("giving loads back"):
            self._reuse.give_loads_back(manager)

    def begin(self, request: "Request") -> None:
        """Implements `on_new_request`."""
        with self._or_give_up("taking a request"):
            if self._reuse is not None:
                self._reuse.begin(request)
        self._missed += self._is_missed

    def claim(self, request: "Request", cached: int) -> tuple[int | None, bool]:
        """Implements `get_num_new_matched_tokens`."""
        with self._or_give_up("claiming"):
            if self._reuse is not None:
                return self._reuse.claim(request, cached)
        return 0, False

    def allocated(self, request: "Request", blocks: "KVCacheBlocks", external: int) -> None:
        """Implements `update_state_after_alloc`. A fault here reaches the engine, because a claim must be filled."""
        if self._reuse is not None:
            self._reuse.allocated(request, blocks.get_block_ids(), external)

    def end_step(self, output: "SchedulerOutput") -> ReuseStep | None:
        """Implements `build_connector_meta`."""
        if self._reuse is None:
            return None
        with self._or_give_up("storing"):
            return self._reuse.end_step(output)
        return self._reuse.abandon_step()

    def answered(self) -> None:
        """Implements `take_events`: a step's output has been processed."""
        with self._or_give_up("noting answers"):
            if self._reuse is not None:
                self._reuse.observations.step_processed()

    def finished(self, request: "Request") -> int:
        """Implements `request_finished`. Returns how many tokens found at another position were computed again."""
        with self._or_give_up("ending a request"):
            if self._reuse is not None:
                return self._reuse.finished(request)
        return 0

    def heard(self, report: Any) -> bool:
        """Implements `update_connector_output`. Returns whether this changed `offer`."""
        if self._reuse is None or not isinstance(report, WorkerReport):
            return False
        before = self.offer
        with self._or_give_up("hearing a worker"):
            self._reuse.heard(report)
        return self.offer != before

    @property
    def offer(self) -> dict[str, float | bool] | None:
        """What is reported to the proxy: how much of what is reused is recomputed; None if nothing is reused."""
        return self._reuse.offer if self._reuse is not None and self._reuse.is_ready else None

    def reuse_of(self, request: "Request") -> Reuse | None:
        """Returns how much of the request differs from full attention, or None if nothing does."""
        return None if self._reuse is None else self._reuse.reuse_of(request.request_id)

    def reset(self) -> None:
        """Implements `reset_cache`: forgets everything stored."""
        if self._reuse is not None:
            self._reuse.reset()

    def take_stats(self) -> ReuseStats | None:
        """Returns what was counted since the last call, or None if nothing was."""
        fresh = {} if self._reuse is None else self._reuse.observations.take()
        if self._missed:
            fresh, self._missed = {("stock", "unsupported"): self._missed}, 0
        return ReuseStats({"/".join(name): one for name, one in fresh.items()}) if fresh else None

    @contextmanager
    def _or_give_up(self, doing: str) -> Iterator[None]:
        """Ends reuse after a fault in its body: existing claims are still filled, but no new ones are made."""
        try:
            yield
        except Exception:
            self._logger.exception("reprise: nothing is reused any more because of a fault in %s", doing)
            if self._reuse is not None:
                self._reuse.refusal = f"a fault in {doing}"
