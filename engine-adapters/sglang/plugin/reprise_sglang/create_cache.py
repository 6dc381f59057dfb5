"""Builds SGLang's own prefix cache: with reports if they can be exact, without them otherwise."""

import logging
import os
from typing import Any

from reprise_callbacks import CallbackSender, CallbackSettingError
from reprise_settings import say_tested
from reprise_sglang.engine_seams import HOTNESS, PROMOTION, REPORTS, TESTED, what_lacks
from reprise_sglang.hotness.settings import HotnessSettingError, HotnessSettings
from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.request_places import RequestPlaces
from reprise_sglang.reuse.hooks import REUSER

logger = logging.getLogger(__name__)

# each of these makes SGLang choose, or fill, a cache other than the observed one
_OTHER_CACHES = ("enable_lmcache", "enable_flexkv", "enable_unified_cache_external_linker")


def create_cache(ctx: Any) -> Any:
    """The factory for `--radix-cache-backend reprise`."""
    import sglang
    from sglang.srt.mem_cache import registry

    sender = _create_sender(ctx)
    settings = _read_hotness(ctx)
    if sender is None and settings is None:
        return registry.default_radix_cache_factory(ctx)
    say_tested("SGLang", sglang.__version__, TESTED, logger)
    cache = registry.create_unified_radix_cache(ctx, cache_class=_choose_class(ctx, settings))
    if settings is not None:
        cache.configure(settings)
    if sender is not None:
        reporter = CacheReporter(sender)
        reporter.guard(cache.report_to, reporter)
        reporter.guard(_check_parts, cache, reporter)
        kinds = [kind for kind, is_kept in (("window", ctx.is_hybrid_swa), ("state", ctx.is_hybrid_ssm)) if is_kept]
        if kinds:
            sender.describe({"checkpoints": {"unit": cache.page_size, "kinds": kinds}})
        reuser = getattr(getattr(ctx.tp_worker, "model_runner", None), REUSER, None)
        if reuser is not None:
            reuser.needs_salts = True
            reuser.report_to(sender.describe)
    return cache


def _choose_class(ctx: Any, settings: HotnessSettings | None) -> type:
    from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

    if settings is None:
        return ReportingRadixCache
    from sglang.srt.mem_cache.unified_cache.component_type import ComponentType

    from reprise_sglang.hotness.component import HotFullComponent
    from reprise_sglang.hotness.hot_radix_cache import HotRadixCache

    ctx.params.component_registry_override = {ComponentType.FULL: HotFullComponent}
    logger.info("reprise: what is asked for often stays in the cache (HotPrefix)")
    return HotRadixCache


def _read_hotness(ctx: Any) -> HotnessSettings | None:
    """Returns None if SGLang's own policy stays. Raises if a setting is wrong or cannot be followed: startup fails."""
    settings = HotnessSettings.read()
    if settings is None:
        return None
    others = "States and windows" if ctx.is_hybrid_ssm or ctx.is_hybrid_swa else None
    others = others or ("Sessions" if ctx.params.enable_session_radix_cache else None)
    obstacle = _find_obstacle(ctx) or (f"{others} have an order of their own." if others else what_lacks(HOTNESS))
    if obstacle is None and settings.promotion_tokens > 0:
        obstacle = _find_promotion_obstacle(ctx)
    if obstacle is not None:
        raise HotnessSettingError(f"REPRISE_EVICTION is set, and SGLang cannot evict by hotness here. {obstacle}")
    return settings


def _find_promotion_obstacle(ctx: Any) -> str | None:
    from sglang.srt.runtime_context import get_disagg, get_memory

    if not ctx.enable_hierarchical_cache or get_memory().hicache_host_memory_mode == "buffer_only":
        return "REPRISE_PROMOTION_TOKENS needs a host that keeps what is evicted: --enable-hierarchical-cache."
    if get_disagg().disaggregation_mode != "null":
        return "REPRISE_PROMOTION_TOKENS needs prefill and decoding on one server."
    return what_lacks(PROMOTION)


def _check_parts(cache: Any, reporter: CacheReporter) -> None:
    """SGLang decides a cache's parts while building it; for some models this depends on more than the context."""
    from sglang.srt.mem_cache.unified_cache.component_type import BASE_COMPONENT_TYPE, ComponentType

    if unknown := set(cache.tree_components) - {BASE_COMPONENT_TYPE, ComponentType.SWA, ComponentType.MAMBA}:
        reporter.stop(f"A prefix can be lost in one of {unknown} while the others still hold it.")


def _create_sender(ctx: Any) -> CallbackSender | None:
    """Returns None, and logs why, if there is nothing to report or the reports cannot be exact."""
    url = os.environ.get("REPRISE_CALLBACK_URL", "").strip()
    if not url:
        logger.warning("reprise: REPRISE_CALLBACK_URL is not set, so the prefix cache is not reported")
        return None
    try:
        if not _is_first_rank():
            logger.info("reprise: the first rank reports for this one")
            return None
        obstacle = _find_obstacle(ctx)
        if obstacle is None:
            # imported only after checking that its base class exists, and here, because the import may fail
            import reprise_sglang.reporting.reporting_radix_cache  # noqa: F401

            token = os.environ.get("REPRISE_CALLBACK_TOKEN")
            sender = CallbackSender(url, token, translator=RequestPlaces(), warn=_warn)
            logger.info("reprise: the prefix cache is reported to %s", sender.url)
            return sender
    except CallbackSettingError as error:
        obstacle = f"{error}."
    except Exception as error:
        obstacle = f"{type(error).__name__}: {error}"
    logger.error("reprise: the prefix cache is NOT reported, SGLang runs with its own. %s", obstacle)
    return None


def _is_first_rank() -> bool:
    """Tensor- and pipeline-parallel ranks run the same cache in lock-step: one report covers all of them."""
    from sglang.srt.runtime_context import get_parallel

    parallel = get_parallel()
    return parallel.pp_rank == 0 and parallel.attn_tp_rank == 0 and parallel.attn_cp_rank == 0


def _find_obstacle(ctx: Any) -> str | None:
    from sglang.srt.runtime_context import get_memory, get_parallel

    if missing := what_lacks(REPORTS):
        return missing
    if ctx.disable_radix_cache:
        return "The radix cache is disabled."
    if ctx.is_hybrid_swa and ctx.full_tokens_per_layer == 0:
        return "Every layer has a sliding window: SGLang then keeps no prefix tree."
    if ctx.is_hybrid_swa and (ctx.params.decoder_swa_bounded_replay or not ctx.params.swa_gates_prefix_match):
        return "SGLang computes the windows of a found prefix again, and does not say how much of it."
    if (ctx.is_hybrid_ssm or ctx.is_hybrid_swa) and ctx.enable_hierarchical_cache:
        return "With --enable-hierarchical-cache the host may hold a state or a window and the GPU none."
    if get_parallel().num_dp_ranks > 1:
        return "Data-parallel ranks have a cache each: start one server a replica."
    others = [name for name in _OTHER_CACHES if getattr(get_memory(), name)]
    return f"{', '.join(others)} is on." if others else None


def _warn(message: str) -> None:
    logger.warning("reprise: %s", message)
