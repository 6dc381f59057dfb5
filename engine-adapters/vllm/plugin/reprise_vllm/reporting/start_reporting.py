"""Decides whether and where to report, from the environment and from what the engine offers."""

import os
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_callbacks import CallbackSender, CallbackSettingError
from reprise_vllm.engine.contained import contained
from reprise_vllm.reporting.cache_watcher import CacheWatcher, Reuse
from reprise_vllm.reporting.step_report import StepTranslator
from reprise_vllm.reporting.watched_group import find_watched_group

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

URL = "REPRISE_CALLBACK_URL"
TOKEN = "REPRISE_CALLBACK_TOKEN"
RANK = "{rank}"


class Reporting:
    """A watched cache, and the sender of its reports. A fault in our code ends it, not the engine."""

    def __init__(
        self, watcher: CacheWatcher, sender: CallbackSender, logger: Logger, checkpoints: dict[str, Any] | None
    ) -> None:
        self._watcher: CacheWatcher | None = watcher
        self._sender, self._logger = sender, logger
        self._facts: dict[str, Any] = {}
        self.checkpoints = checkpoints
        """what snapshots tell of the layers whose checkpoints are reported"""

    @contained("scheduling")
    def scheduled(self, request: "Request", reuse: Reuse | None) -> None:
        """Implements `update_state_after_alloc`."""
        if self._watcher is not None:
            self._watcher.scheduled(request, reuse)

    @contained("a step")
    def end_step(self) -> None:
        """Implements `build_connector_meta` and `take_events`."""
        if self._watcher is not None:
            self._watcher.end_step()

    @contained("the end of a request")
    def finished(self, request: "Request", reuse: Reuse | None) -> None:
        """Implements `request_finished`."""
        if self._watcher is not None:
            self._watcher.finished(request, reuse)

    def describe(self, facts: dict[str, Any]) -> None:
        """Adds to the facts about the engine that snapshots carry."""
        self._facts = self._facts | facts
        self._sender.describe(self._facts)

    def end(self, *, wait: bool = True) -> None:
        """Detaches from the engine, sends the remaining reports to the proxy and stops the heartbeats."""
        if self._watcher is not None:
            watcher, self._watcher = self._watcher, None
            watcher.stop()
            self._sender.close(wait=wait)

    def give_up(self, _: str) -> None:
        """Like `end`, but tells the proxy not to rely on earlier reports, and does not make the engine wait."""
        self._logger.exception("reprise: reporting ends because of a fault in the plugin; the engine goes on")
        self._sender.cleared()
        self.end(wait=False)


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
