"""SGLang's own hooks: which requests of a batch ask for selection, and that nobody finds what they write."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reprise_sglang.pages.settings import asked_ratio

BATCH = "sglang.srt.model_executor.forward_batch_info.ForwardBatch.init_new"
CACHE = "sglang.srt.mem_cache.unified_radix_cache.UnifiedRadixCache.checkpoint"


class NamedRequests(list[str]):
    """
    The names of a batch's requests, and the share of pages that each asks for, None where all.

    SGLang's runners make new `ForwardBatch`es of one: an attribute of our own would be lost, what is in its fields goes
    along.
    """

    def __init__(self, names: Iterable[str], ratios: Sequence[float | None]) -> None:
        super().__init__(names)
        self.ratios = ratios


def register_hooks() -> None:
    """To be called while plugins are loaded."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(BATCH, with_ratios, HookType.AROUND)
    HookRegistry.register(CACHE, prompt_alone, HookType.AROUND)


def with_ratios(original: Callable[..., Any], cls: type, batch: Any, *arguments: Any, **named: Any) -> Any:
    """Tells the batch's forward what its requests ask for."""
    made = original(cls, batch, *arguments, **named)
    ratios = [ratio_of(request) for request in batch.reqs]
    if made.rids is not None and len(made.rids) == len(ratios):
        made.rids = NamedRequests(made.rids, ratios)
    return made


def prompt_alone(original: Callable[..., Any], cache: Any, req: Any, *, up_to: int, **named: Any) -> Any:
    """What is written under selection is approximate: only the prompt, which full attention computed, is kept."""
    if ratio_of(req) is not None:
        up_to = min(up_to, len(req.origin_input_ids))
    return original(cache, req, up_to=up_to, **named)


def ratio_of(request: Any) -> float | None:
    # a session's later turns go on from what the earlier ones wrote
    if getattr(request, "session", None) is not None:
        return None
    return asked_ratio(getattr(request.sampling_params, "custom_params", None))
