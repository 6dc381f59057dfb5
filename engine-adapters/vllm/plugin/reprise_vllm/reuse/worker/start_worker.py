"""Checks whether an engine can reuse, and creates a worker's side of reuse."""

from logging import Logger
from typing import TYPE_CHECKING

from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.model_parts import model_parts
from reprise_vllm.engine.supported import check_config, layer_groups
from reprise_vllm.reuse.row_shape import row_shape_of

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig

    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker


def start_worker(
    config: "VllmConfig",
    cache_config: "KVCacheConfig",
    caches: "dict[str, torch.Tensor]",
    settings: ReuseSettings,
    logger: Logger,
) -> "ReuseWorker":
    """Creates a worker's side. Raises `NotSupportedError` if this engine cannot reuse."""
    from reprise_reuse.disk.model_fingerprint import fingerprint_of
    from reprise_reuse.host_store import slots_in
    from reprise_reuse.remote.tiers import open_tiers
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

    check_config(config)
    groups = layer_groups(cache_config)
    parts = model_parts(config, [name for group in groups for name in group.names])
    rank = config.parallel_config.rank
    disk = remote = None
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
        described = config.model_config.hf_config.to_dict()

        def fingerprint() -> str:
            return fingerprint_of(parts.model, described, *facts)

        disk, remote = open_tiers(settings.disk, settings.remote, fingerprint, rank, logger)
    slots = slots_in(settings.host_bytes, row_shape_of(config, groups, settings))
    return ReuseWorker(
        config, groups, cache_config.num_blocks, caches, parts, settings, slots, disk, remote, logger
    )  # fmt: skip
