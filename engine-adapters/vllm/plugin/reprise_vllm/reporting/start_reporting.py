"""Decides whether and where to report, from the environment and from what the engine offers."""

import os
from logging import Logger
from typing import TYPE_CHECKING

from reprise_callbacks import CallbackSender, CallbackSettingError
from reprise_settings import NotSupportedError
from reprise_vllm.reporting.cache_watcher import CacheWatcher
from reprise_vllm.reporting.step_report import StepTranslator
from reprise_vllm.reporting.watched_group import WatchedGroup, find_watched_group

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig

URL = "REPRISE_CALLBACK_URL"
TOKEN = "REPRISE_CALLBACK_TOKEN"
RANK = "{rank}"


def start_reporting(
    config: "VllmConfig", cache_config: "KVCacheConfig", pool: "BlockPool", logger: Logger
) -> CacheWatcher | None:
    """Starts reporting. Returns None, and logs one line saying why, if there is nothing to report or no destination."""
    url = os.environ.get(URL, "").strip()
    if not url:
        logger.warning("reprise: %s is not set, so nothing is reported", URL)
        return None
    try:
        url = _url_of_rank(url, config)
        group = _group_of(cache_config, pool)
        sender = CallbackSender(
            url, os.environ.get(TOKEN) or None, translator=StepTranslator(group, _has_random_suffix()),
            warn=lambda line: logger.warning("reprise: %s", line),
        )  # fmt: skip
    except (NotSupportedError, CallbackSettingError) as error:
        logger.error("reprise: nothing is reported: %s", error)
        return None
    if not (group.is_alone or group.sides):
        logger.warning("reprise: reports are of the full-attention layers; this model's other layers may miss sooner")
    logger.info("reprise: reporting to %s, blocks of %d tokens", sender.url, group.block_size)
    return CacheWatcher(pool, group, sender, logger)


def _url_of_rank(url: str, config: "VllmConfig") -> str:
    parallel = config.parallel_config
    if RANK not in url and parallel.data_parallel_size > 1 and not parallel.data_parallel_external_lb:
        raise NotSupportedError(
            f"{parallel.data_parallel_size} ranks behind one address each have a cache of their own. Give each an "
            f"address (--data-parallel-external-lb) and a {URL}, or put {RANK} into it"
        )
    return url.replace(RANK, str(parallel.data_parallel_index))


def _group_of(cache_config: "KVCacheConfig", pool: "BlockPool") -> WatchedGroup:
    needed = {
        **dict.fromkeys(("metrics_collector", "hash_block_size", "enable_caching", "cached_block_hash_to_block"), pool),
        "get_one_block": getattr(pool, "cached_block_hash_to_block", None),
    }
    missing = [name for name, owner in needed.items() if not hasattr(owner, name)]
    if missing:
        raise NotSupportedError(f"this vLLM's block pool has no {', no '.join(missing)}")
    if not pool.enable_caching:
        raise NotSupportedError("prefix caching is off (--enable-prefix-caching)")
    group = find_watched_group(cache_config, pool)
    if group is None:
        raise NotSupportedError("no layer of this model attends to its whole context")
    return group


def _has_random_suffix() -> bool:
    from vllm import envs

    return not getattr(envs, "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION", False)
