"""Checks whether an engine can reuse, and creates a worker's side of reuse."""

from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING

from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.model_parts import model_parts
from reprise_vllm.engine.supported import attention_spec, check_config
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
    from reprise_reuse.host_store import slots_in
    from reprise_vllm.reuse.disk.disk_tier import DiskTier
    from reprise_vllm.reuse.disk.model_fingerprint import fingerprint_of
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

    check_config(config)
    spec = attention_spec(cache_config)
    parts = model_parts(config, list(cache_config.kv_cache_groups[0].layer_names))
    rank = config.parallel_config.rank
    disk = None
    if settings.disk:
        facts = (
            spec.dtype,
            settings.host_dtype,
            parts.rotary.cos_sin[1].tolist(),
            rank,
            config.parallel_config.tensor_parallel_size,
            # what is not quantised is told by its data type
            *([format] if (format := config.cache_config.cache_dtype).startswith("fp8") else []),
        )
        described = config.model_config.hf_config.to_dict()
        disk = DiskTier(Path(settings.disk), lambda: fingerprint_of(parts.model, described, *facts), rank, logger)
    slots = slots_in(settings.host_bytes, row_shape_of(config, spec, cache_config, settings))
    return ReuseWorker(config, spec, cache_config.num_blocks, caches, parts, settings, slots, disk, logger)
