"""Checks whether an engine can reuse, and creates a worker's side of reuse."""

from functools import partial
from logging import Logger
from typing import TYPE_CHECKING

import torch
from vllm.distributed.kv_transfer import get_kv_transfer_group

from reprise_reuse.disk.model_fingerprint import fingerprint_of
from reprise_reuse.remote.tiers import open_tiers
from reprise_reuse.start import measure_costs
from reprise_reuse.start.prove_reuse import NotProvenError, prove_reuse
from reprise_settings import NotSupportedError
from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.model_parts import model_parts
from reprise_vllm.engine.supported import check_config, check_siblings, layer_groups
from reprise_vllm.reuse.messages import WorkerReport
from reprise_vllm.reuse.worker.choose_kernels import choose_kernels
from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig


def start_worker(
    config: "VllmConfig", cache_config: "KVCacheConfig", caches: dict[str, torch.Tensor], settings: ReuseSettings,
    logger: Logger,
) -> ReuseWorker | WorkerReport:  # fmt: skip
    """Creates a worker's side if its self-test passes. Otherwise returns why not, to be reported."""
    try:
        check_siblings(get_kv_transfer_group())
        worker = _create(config, cache_config, caches, settings, logger)
        size, blocks = worker.groups.spec.block_size, cache_config.num_blocks
        choose_kernels(worker, blocks, size, logger)
        vocabulary = config.model_config.get_vocab_size()
        prove_reuse(worker, vocabulary, size, blocks)
        worker.costs = measure_costs.measure_costs(worker, vocabulary, size, blocks, logger)
    except (NotSupportedError, NotProvenError) as error:
        return WorkerReport(refusals=[str(error)])
    except Exception as error:
        logger.exception("reprise: the self-test of reuse failed")
        return WorkerReport(refusals=[f"the self-test failed: {error}"])
    # what the self-test counted is nobody's load
    worker.report = WorkerReport(ready=1, costs=worker.costs)
    worker.tiers.restore(worker.report)
    return worker


def _create(
    config: "VllmConfig", cache_config: "KVCacheConfig", caches: dict[str, torch.Tensor], settings: ReuseSettings,
    logger: Logger,
) -> ReuseWorker:  # fmt: skip
    check_config(config)
    groups = layer_groups(cache_config)
    parts = model_parts(config, [name for group in groups for name in group.names])
    rank = config.parallel_config.rank
    tiers = None, None
    if settings.disk or settings.remote:
        facts = (
            groups.spec.dtype,
            settings.host_dtype,
            *(rotary.cos_sin[1].tolist() for rotary in {id(one): one for one in parts.rotaries}.values()),
            rank,
            config.parallel_config.tensor_parallel_size,
            # what is not quantised is told by its data type
            *([format] if (format := config.cache_config.cache_dtype).startswith("fp8") else []),
        )
        fingerprint = partial(fingerprint_of, parts.model, config.model_config.hf_config.to_dict(), *facts)
        tiers = open_tiers(settings.disk, settings.remote, fingerprint, rank, logger)
    return ReuseWorker(config, groups, cache_config.num_blocks, caches, parts, settings, tiers, logger)
