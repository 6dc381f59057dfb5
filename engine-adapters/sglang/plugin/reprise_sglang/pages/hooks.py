"""Hooks into SGLang: pass on which requests of a batch want selection, and keep what they write out of the cache."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reprise_settings.page_settings import MALFORMED, asked_ratio

BATCH = "sglang.srt.model_executor.forward_batch_info.ForwardBatch.init_new"
CACHE = "sglang.srt.mem_cache.unified_radix_cache.UnifiedRadixCache.checkpoint"

is_selecting = False
"""whether a backend of this process has begun to select pages: without one, nothing that is written is approximate"""


class NamedRequests(list[str]):
    """
    The names of a batch's requests, and the share of pages each one wants; None for all pages.

    SGLang's runners derive new `ForwardBatch`es from one. They copy its fields, but would lose an extra attribute.
    """

    def __init__(self, names: Iterable[str], ratios: Sequence[float | None]) -> None:
        super().__init__(names)
        self.ratios = ratios


def register_hooks() -> None:
    """Call while plugins are loaded."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(BATCH, with_ratios, HookType.AROUND)
    HookRegistry.register(CACHE, prompt_alone, HookType.AROUND)


def with_ratios(original: Callable[..., Any], cls: type, batch: Any, *arguments: Any, **named: Any) -> Any:
    """Attaches the ratios of a batch's requests to its `ForwardBatch`."""
    made = original(cls, batch, *arguments, **named)
    ratios = [ratio_of(request) for request in batch.reqs] if is_selecting else ()
    if ratios and made.rids is not None and len(made.rids) == len(ratios):
        made.rids = NamedRequests(made.rids, ratios)
    return made


def prompt_alone(original: Callable[..., Any], cache: Any, req: Any, *, up_to: int, **named: Any) -> Any:
    """Caches only the prompt, computed with full attention: KV written under selection is approximate."""
    if is_selecting and ratio_of(req) is not None:
        up_to = min(up_to, len(req.origin_input_ids))
    return original(cache, req, up_to=up_to, **named)


def ratio_of(request: Any) -> float | None:
    # later turns of a session continue from what earlier ones wrote
    if getattr(request, "session", None) is not None:
        return None
    ratio = asked_ratio(getattr(request.sampling_params, "custom_params", None))
    return None if ratio == MALFORMED else ratio
