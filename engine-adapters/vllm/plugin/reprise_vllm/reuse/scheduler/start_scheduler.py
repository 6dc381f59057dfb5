"""Checks whether an engine can reuse, and creates the scheduler's side of reuse."""

import os
from collections.abc import Mapping
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_vllm.engine.model_parts import even_keys, load_tokenizer
from reprise_vllm.engine.private_hashes import check_privacy
from reprise_vllm.engine.supported import NotSupportedError, check_config, layer_groups
from reprise_vllm.reuse.row_shape import row_shape_of
from reprise_vllm.reuse.settings import ReuseSettingError, ReuseSettings

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig

    from reprise_reuse.host_store import RowShape
    from reprise_vllm.reuse.scheduler.reuse_scheduler import ReuseScheduler

_LINE_END = ("\n", "\u010a", "<0x0A>")


def start_scheduler(
    config: "VllmConfig", cache_config: "KVCacheConfig", settings: ReuseSettings, logger: Logger
) -> "ReuseScheduler | None":
    """Creates the scheduler's side. Returns None, and logs why, if this engine cannot reuse."""
    from reprise_reuse.work import RowWork
    from reprise_vllm.reuse.scheduler.asked import Limits
    from reprise_vllm.reuse.scheduler.reuse_scheduler import ReuseScheduler

    try:
        check_config(config)
        groups = layer_groups(cache_config)
        check_privacy(groups.spec.block_size)
    except NotSupportedError as error:
        logger.error("reprise: nothing is reused: %s", error)
        return None
    # after a failed load, vLLM recomputes what is missing; by default it would fail the request
    config.kv_transfer_config.kv_load_failure_policy = "recompute"
    check_memory(settings.host_bytes)
    row = row_shape_of(config, groups, settings)
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
        work=RowWork(even_keys(config)),
    )
    logger.info(
        "reprise: reusing at any position: %d tokens in host memory, %d on disk; %s of the work is done again",
        *(limits.host_tokens, limits.disk_tokens, f"{settings.ratio:.0%}"),
    )
    return ReuseScheduler(settings, limits, line_ends(load_tokenizer(config)), logger)


def check_memory(host_bytes: int) -> None:
    """Raises `ReuseSettingError` if the machine has less memory than that."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if host_bytes > physical:
        raise ReuseSettingError(f"reuse.host_bytes is {host_bytes}, more than the {physical} bytes of this machine")


def line_ends(tokenizer: Any) -> frozenset[int]:
    """Returns the tokens that end with a line break; none without a tokeniser."""
    vocabulary: Mapping[str, int] = tokenizer.get_vocab() if tokenizer is not None else {}
    return frozenset(token for text, token in vocabulary.items() if text.endswith(_LINE_END))


def tokens_in(setting: str, budget: int, row: "RowShape") -> int:
    """Returns how many tokens fit into `budget` bytes. Raises `ReuseSettingError` if not even one segment fits."""
    from reprise_reuse.host_store import slots_in
    from reprise_reuse.segments import MIN_STORED

    tokens = slots_in(budget, row)
    if tokens < MIN_STORED:
        raise ReuseSettingError(
            f"reuse.{setting} is {budget}, it must be {MIN_STORED * row.bytes} at least: a token of this model takes "
            f"{row.bytes} bytes, a segment has {MIN_STORED} tokens or more"
        )
    return tokens
