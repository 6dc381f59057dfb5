"""What the connector calls of reuse, on either of its sides; without reuse, or where it cannot be, nothing happens."""

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
    """The operator's settings, None where reuse is not asked for; raises `ReuseSettingError` where it cannot be had."""
    if extra.get(KEY) is None or extra[KEY] is False:
        return None
    try:
        import reprise_reuse  # noqa: F401
    except ImportError as error:
        raise ReuseSettingError("reuse needs the package reprise-kernels: pip install kernels") from error
    return ReuseSettings.read(extra)


class SchedulerSide:
    """Reuse as the scheduler's connector calls it. A fault of ours ends reuse, not the engine."""

    def __init__(self, reuse: "ReuseScheduler | None", logger: Logger, *, is_wanted: bool = False) -> None:
        """is_wanted: the operator asked for reuse; without `reuse` each request is counted as stock."""
        self._reuse = reuse
        self._logger = logger
        self._is_missed = is_wanted and reuse is None
        self._missed = 0

    @property
    def state(self) -> "ReuseScheduler | None":
        """The scheduler's side where it is at work."""
        return self._reuse

    def watch(self, pool: "BlockPool") -> None:
        """As `bind_gpu_block_pool`."""
        with self._or_give_up("watching the block pool"):
            if self._reuse is not None:
                self._reuse.watch(pool)

    def begin(self, request: "Request") -> None:
        """A request arrives."""
        with self._or_give_up("taking a request"):
            if self._reuse is not None:
                self._reuse.begin(request)
        self._missed += self._is_missed

    def claim(self, request: "Request", cached: int) -> tuple[int | None, bool]:
        """As `get_num_new_matched_tokens`."""
        with self._or_give_up("claiming"):
            if self._reuse is not None:
                return self._reuse.claim(request, cached)
        return 0, False

    def allocated(self, request: "Request", blocks: "KVCacheBlocks", external: int) -> None:
        """As `update_state_after_alloc`; what was claimed has to be filled, so here a fault is the engine's."""
        if self._reuse is not None:
            self._reuse.allocated(request, blocks.get_block_ids()[0], external)

    def end_step(self, output: "SchedulerOutput") -> ReuseStep | None:
        """As `build_connector_meta`."""
        if self._reuse is None:
            return None
        with self._or_give_up("storing"):
            return self._reuse.end_step(output)
        return self._reuse.abandon_step()

    def finished(self, request: "Request") -> None:
        """The request is over."""
        with self._or_give_up("ending a request"):
            if self._reuse is not None:
                self._reuse.finished(request)

    def heard(self, report: Any) -> bool:
        """As `update_connector_output`; whether `offer` has changed by it."""
        if self._reuse is None or not isinstance(report, WorkerReport):
            return False
        before = self.offer
        with self._or_give_up("hearing a worker"):
            self._reuse.heard(report)
        return self.offer != before

    @property
    def offer(self) -> dict[str, float] | None:
        """What the proxy is told: how much of what is reused is computed again; None where nothing is reused."""
        return self._reuse.offer if self._reuse is not None and self._reuse.is_ready else None

    def reuse_of(self, request: "Request") -> Reuse | None:
        """How much of the request is not what full attention gives; None where all is."""
        return None if self._reuse is None else self._reuse.reuse_of(request.request_id)

    def reset(self) -> None:
        """Forgets what is stored."""
        if self._reuse is not None:
            self._reuse.reset()

    def take_stats(self) -> ReuseStats | None:
        """What was counted since; None where nothing was."""
        counts = {} if self._reuse is None else self._reuse.take_counts()
        if self._missed:
            counts, self._missed = {("stock", "unsupported"): self._missed}, 0
        return ReuseStats({"/".join(name): count for name, count in counts.items()}) if counts else None

    @contextmanager
    def _or_give_up(self, doing: str) -> Iterator[None]:
        """A fault of ours within it ends reuse: what is claimed is filled, nothing more is claimed."""
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
        """The engine's pages, by layer."""
        self._caches = caches

    def prove(self) -> None:
        """Begins to reuse if the self-test passes; else reports the reason, and the engine is as without reuse."""
        from reprise_vllm.reuse.engine_parts import NotSupportedError
        from reprise_vllm.reuse.prove_reuse import prove_reuse
        from reprise_vllm.reuse.start import start_worker

        if self._caches is None or self._worker is not None:
            return
        config, cache_config = self._config, self._cache_config
        try:
            worker = start_worker(config, cache_config, self._caches, self._settings, self._logger)
            spec = cache_config.kv_cache_groups[0].kv_cache_spec
            prove_reuse(worker, config.model_config.get_vocab_size(), spec.block_size, cache_config.num_blocks)
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
        """As `handle_preemptions`."""
        if self._worker is not None and step is not None:
            self._worker.prepare(step)

    def begin_step(self, step: ReuseStep | None) -> None:
        """As `start_load_kv`."""
        # of connectors beside others none may be asked for a handshake
        self.prove()
        if self._worker is not None:
            self._worker.begin_step(step or ReuseStep())

    def save(self, step: ReuseStep | None) -> None:
        """As `wait_for_save`."""
        if self._worker is not None and step is not None:
            self._worker.save(step)

    def take_loaded(self) -> set[str]:
        """Requests whose asynchronous loads have ended."""
        return set() if self._worker is None else self._worker.take_loaded()

    def take_failed_blocks(self) -> set[int]:
        """Blocks that could not be filled."""
        return set() if self._worker is None else self._worker.take_failed_blocks()

    def take_report(self) -> WorkerReport | None:
        """What there is to say to the scheduler's side."""
        if self._worker is not None:
            return self._worker.take_report()
        if self._report.is_empty:
            return None
        report, self._report = self._report, WorkerReport()
        return report

    def close(self) -> None:
        """Ends what goes on beside steps."""
        if self._worker is not None:
            self._worker.close()
