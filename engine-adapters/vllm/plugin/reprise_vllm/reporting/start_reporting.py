"""Decides whether and where to report, from the environment and from what the engine offers."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_callbacks import CallbackSender, CallbackSettingError
from reprise_vllm.reporting.cache_watcher import CacheWatcher
from reprise_vllm.reporting.step_report import StepTranslator
from reprise_vllm.reporting.watched_group import find_watched_group

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig

URL = "REPRISE_CALLBACK_URL"
TOKEN = "REPRISE_CALLBACK_TOKEN"
RANK = "{rank}"


@dataclass(frozen=True, slots=True)
class Reporting:
    """A watched cache, and the sender of its reports."""

    watcher: CacheWatcher
    sender: CallbackSender
    logger: Logger
    facts: dict[str, Any] | None
    """what snapshots tell of the layers whose checkpoints are reported"""

    def end(self, *, wait: bool) -> None:
        """Detaches from the engine, sends the remaining reports to the proxy and stops the heartbeats."""
        self.watcher.stop()
        self.sender.close(wait=wait)

    def give_up(self) -> None:
        """Like `end`, but tells the proxy not to rely on earlier reports, and does not make the engine wait."""
        self.sender.cleared()
        self.end(wait=False)


def ends_reporting(method: Callable[..., None]) -> Callable[..., None]:
    """For methods of the owner of `_reporting`: a fault in our code ends reporting, not the engine."""

    @wraps(method)
    def guarded(self: Any, *arguments: Any) -> None:
        if self._reporting is None:
            return
        try:
            method(self, *arguments)
        except Exception:
            reporting, self._reporting = self._reporting, None
            reporting.logger.exception("reprise: reporting ends because of a fault in the plugin; the engine goes on")
            reporting.give_up()

    return guarded


def start_reporting(
    config: "VllmConfig", cache_config: "KVCacheConfig", pool: "BlockPool", logger: Logger
) -> Reporting | None:
    """Starts reporting. Returns None, and logs one line saying why, if there is nothing to report or no destination."""
    url = os.environ.get(URL, "").strip()
    if not url:
        logger.warning("reprise: %s is not set, so nothing is reported", URL)
        return None
    parallel = config.parallel_config
    if RANK in url:
        url = url.replace(RANK, str(parallel.data_parallel_index))
    elif parallel.data_parallel_size > 1 and not parallel.data_parallel_external_lb:
        logger.error(
            "reprise: nothing is reported: %d ranks behind one address each have a cache of their own. Give each an "
            "address (--data-parallel-external-lb) and a %s, or put %s into it",
            *(parallel.data_parallel_size, URL, RANK),
        )
        return None
    missing = _missing_in(pool)
    if missing:
        logger.error("reprise: nothing is reported: this vLLM's block pool has no %s", ", no ".join(missing))
        return None
    if not pool.enable_caching:
        logger.error("reprise: nothing is reported: prefix caching is off (--enable-prefix-caching)")
        return None
    group = find_watched_group(cache_config, pool)
    if group is None:
        logger.error("reprise: nothing is reported: no layer of this model attends to its whole context")
        return None
    if not group.is_alone and group.sides is None:
        logger.warning("reprise: reports are of the full-attention layers; this model's other layers may miss sooner")
    translator = StepTranslator(group, _has_random_suffix())
    token = os.environ.get(TOKEN) or None
    try:
        sender = CallbackSender(
            url, token, translator=translator, warn=lambda line: logger.warning("reprise: %s", line)
        )
    except CallbackSettingError as error:
        logger.error("reprise: nothing is reported: %s", error)
        return None
    logger.info("reprise: reporting to %s, blocks of %d tokens", sender.url, group.block_size)
    return Reporting(CacheWatcher(pool, group, sender), sender, logger, group.sides and group.sides.facts)


def _missing_in(pool: "BlockPool") -> list[str]:
    needed = {
        "metrics_collector": pool,
        "hash_block_size": pool,
        "enable_caching": pool,
        "cached_block_hash_to_block": pool,
        "get_one_block": getattr(pool, "cached_block_hash_to_block", None),
    }
    return [name for name, owner in needed.items() if not hasattr(owner, name)]


def _has_random_suffix() -> bool:
    from vllm import envs

    return not getattr(envs, "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION", False)
