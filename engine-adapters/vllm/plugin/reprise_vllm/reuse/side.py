"""The two sides of reuse that the connector calls. If reuse is off or not possible, they do nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_vllm.cache_watcher import Reuse
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport
from reprise_vllm.reuse.settings import KEY, ReuseSettingError, ReuseSettings
from reprise_vllm.reuse.stats import ReuseStats

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

    from reprise_vllm.reuse.scheduler import ReuseScheduler
    from reprise_vllm.reuse.worker import ReuseWorker


def read_settings(extra: Mapping[str, Any]) -> ReuseSettings | None:
    """Returns the operator's settings, or None if reuse is off.

    Raises `ReuseSettingError` if a setting is invalid or reprise-kernels is not installed.
    """
    if extra.get(KEY) is None or extra[KEY] is False:
        return None
    try:
        import reprise_reuse  # noqa: F401
    except ImportError as error:
        raise ReuseSettingError("reuse needs the package reprise-kernels: pip install ./kernels") from error
    return ReuseSettings.read(extra)


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
            self._reuse.allocated(request, blocks.get_block_ids()[0], external)

    def end_step(self, output: "SchedulerOutput") -> ReuseStep | None:
        """Implements `build_connector_meta`."""
        if self._reuse is None:
            return None
        with self._or_give_up("storing"):
            return self._reuse.end_step(output)
        return self._reuse.abandon_step()

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
    def offer(self) -> dict[str, float] | None:
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
        counts = {} if self._reuse is None else self._reuse.take_counts()
        if self._missed:
            counts, self._missed = {("stock", "unsupported"): self._missed}, 0
        return ReuseStats({"/".join(name): count for name, count in counts.items()}) if counts else None

    @contextmanager
    def _or_give_up(self, doing: str) -> Iterator[None]:
        """Ends reuse after a fault in its body: existing claims are still filled, but no new ones are made."""
        try:
            yield
        except Exception:
            self._logger.exception("reprise: nothing is reused any more because of a fault in %s", doing)
            if self._reuse is not None:
                self._reuse.refusal = f"a fault in {doing}"


class WorkerSide:
    """Reuse as a worker's connector calls it."""

    def __init__(
        self, config: "VllmConfig", cache_config: "KVCacheConfig", settings: ReuseSettings, logger: Logger
    ) -> None:
        self._config = config
        self._cache_config = cache_config
        self._settings = settings
        self._logger = logger
        self._caches: dict[str, torch.Tensor] | None = None
        self._worker: ReuseWorker | None = None
        self._report = WorkerReport()

    def register(self, caches: "dict[str, torch.Tensor]") -> None:
        """Remembers the engine's pages, by layer, until `prove`."""
        self._caches = caches

    def prove(self) -> None:
        """Starts to reuse if the self-test passes. Otherwise reports why, and the engine runs as without reuse."""
        from reprise_vllm.reuse.choose_kernels import choose_kernels
        from reprise_vllm.reuse.engine_parts import NotSupportedError
        from reprise_vllm.reuse.prove_reuse import prove_reuse
        from reprise_vllm.reuse.start import start_worker

        if self._caches is None or self._worker is not None:
            return
        config, cache_config = self._config, self._cache_config
        try:
            worker = start_worker(config, cache_config, self._caches, self._settings, self._logger)
            spec, blocks = cache_config.kv_cache_groups[0].kv_cache_spec, cache_config.num_blocks
            choose_kernels(worker, blocks, spec.block_size, self._logger)
            prove_reuse(worker, config.model_config.get_vocab_size(), spec.block_size, blocks)
        except NotSupportedError as error:
            self._report.refusals.append(str(error))
        except Exception as error:
            self._logger.exception("reprise: the self-test of reuse failed")
            self._report.refusals.append(f"the self-test failed: {error}")
        else:
            worker.report.ready = 1
            worker.restore()
            self._worker = worker
        self._caches = None

    def prepare(self, step: ReuseStep | None) -> None:
        """Implements `handle_preemptions`."""
        if self._worker is not None and step is not None:
            self._worker.prepare(step)

    def begin_step(self, step: ReuseStep | None) -> None:
        """Implements `start_load_kv`."""
        # with several connectors, vLLM may not call `get_handshake_metadata` on this one
        self.prove()
        if self._worker is not None:
            self._worker.begin_step(step or ReuseStep())

    def save(self, step: ReuseStep | None) -> None:
        """Implements `wait_for_save`."""
        if self._worker is not None and step is not None:
            self._worker.save(step)

    def take_loaded(self) -> set[str]:
        """Returns the requests whose asynchronous loads have ended since the last call."""
        return set() if self._worker is None else self._worker.take_loaded()

    def take_failed_blocks(self) -> set[int]:
        """Returns the blocks that could not be filled since the last call."""
        return set() if self._worker is None else self._worker.take_failed_blocks()

    def take_report(self) -> WorkerReport | None:
        """Returns the report for the scheduler's side, or None if there is nothing to report."""
        if self._worker is not None:
            return self._worker.take_report()
        if self._report.is_empty:
            return None
        report, self._report = self._report, WorkerReport()
        return report

    def close(self) -> None:
        """Stops background work."""
        if self._worker is not None:
            self._worker.close()
