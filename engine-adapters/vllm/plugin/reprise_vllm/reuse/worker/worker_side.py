"""Reuse as a worker's connector calls it. If reuse is not possible, it does nothing."""

from logging import Logger
from typing import TYPE_CHECKING

from vllm.distributed.kv_transfer import get_kv_transfer_group

from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig

    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker


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
        from reprise_reuse.start.measure_costs import measure_costs
        from reprise_reuse.start.prove_reuse import prove_reuse
        from reprise_reuse.start.proved_worker import NotProvenError
        from reprise_vllm.engine.supported import NotSupportedError, check_siblings
        from reprise_vllm.reuse.worker.choose_kernels import choose_kernels
        from reprise_vllm.reuse.worker.start_worker import start_worker

        if self._caches is None or self._worker is not None:
            return
        config, cache_config = self._config, self._cache_config
        try:
            check_siblings(get_kv_transfer_group())
            worker = start_worker(config, cache_config, self._caches, self._settings, self._logger)
            size, blocks = worker.groups.spec.block_size, cache_config.num_blocks
            choose_kernels(worker, blocks, size, self._logger)
            vocabulary = config.model_config.get_vocab_size()
            prove_reuse(worker, vocabulary, size, blocks)
            worker.costs = measure_costs(worker, vocabulary, size, blocks, self._logger)
        except (NotSupportedError, NotProvenError) as error:
            self._report.refusals.append(str(error))
        except Exception as error:
            self._logger.exception("reprise: the self-test of reuse failed")
            self._report.refusals.append(f"the self-test failed: {error}")
        else:
            # what the self-test counted is nobody's load
            worker.report = WorkerReport(ready=1, costs=worker.costs)
            worker.tiers.restore(worker.report)
            self._worker = worker
        self._caches = None

    def prepare(self, step: ReuseStep | None) -> None:
        """Implements `handle_preemptions`."""
        if self._worker is not None:
            self._worker.prepare(step or ReuseStep())

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

    def take_failed_requests(self) -> set[str]:
        """Returns the requests whose loads failed since the last call, if vLLM cannot be told by their blocks."""
        return set() if self._worker is None else self._worker.failed.take_requests()

    def take_failed_blocks(self) -> set[int]:
        """Returns the blocks that could not be filled since the last call."""
        return set() if self._worker is None else self._worker.failed.take_blocks()

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
            self._worker.tiers.close()
