"""Checks whether an engine can reuse, and creates the scheduler's side of reuse."""

from logging import Logger
from typing import TYPE_CHECKING

from reprise_reuse.costs import even_keys_of
from reprise_reuse.requests.prompt_reuse import Limits
from reprise_reuse.segments.cut import line_ends
from reprise_settings import NotSupportedError
from reprise_settings.reuse_settings import ReuseSettings, check_memory, tokens_in
from reprise_vllm.engine.model_parts import load_tokenizer
from reprise_vllm.engine.private_hashes import check_privacy
from reprise_vllm.engine.supported import check_config, layer_groups
from reprise_vllm.reuse.scheduler.reuse_scheduler import ReuseScheduler

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig


def start_scheduler(
    config: "VllmConfig", cache_config: "KVCacheConfig", settings: ReuseSettings, logger: Logger
) -> ReuseScheduler | None:
    """Creates the scheduler's side. Returns None, and logs why, if this engine cannot reuse."""
    try:
        check_config(config)
        groups = layer_groups(cache_config)
        check_privacy(groups.spec.block_size)
    except NotSupportedError as error:
        logger.error("reprise: nothing is reused but equal beginnings: %s", error)
        return None
    # after a failed load, vLLM recomputes what is missing; by default it would fail the request
    config.kv_transfer_config.kv_load_failure_policy = "recompute"
    check_memory(settings.host_bytes)
    model = config.model_config
    row = groups.row_shape(model.dtype, settings.host_dtype)
    even_keys = even_keys_of(
        model.hf_text_config, model.get_hidden_size(), getattr(model.hf_text_config, "num_attention_heads", None),
        model.get_total_num_kv_heads(), model.get_head_size(),
    )  # fmt: skip
    limits = Limits(
        host_tokens=tokens_in("host_bytes", settings.host_bytes, row),
        disk_tokens=tokens_in("disk_bytes", settings.disk_bytes, row) if settings.disk else 0,
        rows_per_step=settings.rows_beside(config.scheduler_config.max_num_batched_tokens),
        most_checked=config.scheduler_config.max_num_batched_tokens,
        block_size=groups.spec.block_size,
        has_windows=groups.have_windows,
        ranks=config.parallel_config.tensor_parallel_size,
        device_blocks=cache_config.num_blocks,
        row_bytes=row.bytes,
        copies_beside=config.device_config.device_type == "cuda",
        even_keys=even_keys,
    )
    return ReuseScheduler(settings, limits, line_ends(load_tokenizer(config)), logger)
