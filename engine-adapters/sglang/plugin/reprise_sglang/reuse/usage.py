"""What was reused at another position, and what was found there and computed again: in usage, and in SGLang's metrics.

For `prompt_tokens_details`, SGLang's scheduler sends details of cached tokens with each answer. Ours travel among them
to the process that answers. There they become part of the number of cached tokens, which SGLang writes into usage.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

from reprise_settings.reuse_counters import DIVERGENCE, REUSE_COUNTERS

if TYPE_CHECKING:
    from reprise_sglang.reuse.asked import Asked

ATTRIBUTE = "reprise_reuse"
"""of SGLang's requests, which keep what is known of them"""
DETAILS = "sglang.srt.managers.scheduler_components.output_streamer.SchedulerOutputStreamer.get_cached_tokens_details"
RECEIVED = "sglang.srt.managers.tokenizer_manager.TokenizerManager._handle_batch_output"
WRITTEN = "sglang.srt.entrypoints.openai.protocol.PromptTokensDetails.__init__"
_FIGURES = ("reused_tokens", "recomputed_tokens")


def asked_of(request: Any) -> "Asked | None":
    """Returns what is known of one of SGLang's requests."""
    return getattr(request, ATTRIBUTE, None)


class CachedTokens(int):
    """The number of cached tokens, with the other figures of the same prompts."""

    figures: tuple[int, ...]

    def __new__(cls, cached: int, figures: tuple[int, ...]) -> "CachedTokens":
        made = super().__new__(cls, cached)
        made.figures = figures
        return made

    def __add__(self, other: int) -> "CachedTokens":
        more = getattr(other, "figures", (0,) * len(self.figures))
        return CachedTokens(int(self) + int(other), tuple(map(sum, zip(self.figures, more, strict=True))))

    __radd__ = __add__


def with_figures(details: Any, streamer: Any, request: Any) -> Any:
    """Adds what was reused for a request to its details of cached tokens; called after SGLang's own method."""
    asked = asked_of(request)
    if asked is None or not asked.reused + asked.recomputed:
        return details
    figures = dict(zip(_FIGURES, (asked.reused, asked.recomputed), strict=True))
    return {**(details or {"device": 0, "host": 0}), **figures}


def take_figures(manager: Any, received: Any) -> None:
    """Makes our details part of the numbers of cached tokens; called before SGLang reads them."""
    details, cached = (getattr(received, name, None) for name in ("cached_tokens_details", "cached_tokens"))
    for at, one in enumerate(details or ()):
        if one is not None and cached and _FIGURES[0] in one:
            cached[at] = CachedTokens(cached[at], tuple(int(one[name]) for name in _FIGURES))


def report_in_usage() -> None:
    """Lets usage hold our figures. For the process that answers, while plugins are loaded."""
    from pydantic import BaseModel
    from sglang.srt.entrypoints.openai import protocol
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    protocol.PromptTokensDetails.model_config["extra"] = "allow"
    # what holds it was built with the fields that it had
    for model in vars(protocol).values():
        if isinstance(model, type) and issubclass(model, BaseModel) and model is not BaseModel:
            model.model_rebuild(force=True)

    def write(original: Any, details: Any, **given: Any) -> None:
        cached = given.get("cached_tokens")
        figures = zip(_FIGURES, getattr(cached, "figures", ()), strict=False)
        original(details, **given, **{name: count for name, count in figures if count})

    HookRegistry.register(RECEIVED, take_figures, HookType.BEFORE)
    HookRegistry.register(WRITTEN, write, HookType.AROUND)


class ReuseMetrics:
    """Exports counts since the start as Prometheus counters, one per `what`, labelled by kind; and divergences."""

    def __init__(self) -> None:
        # SGLang collects over processes what this library counts in any of them, if it is imported late enough
        import prometheus_client

        self._counters = {
            what: prometheus_client.Counter(f"sglang:reprise_{name}", text, [label])
            for what, (name, text, label) in REUSE_COUNTERS.items()
        }
        name, text, nats = DIVERGENCE
        self._divergence = prometheus_client.Histogram(f"sglang:reprise_{name}", text, buckets=nats)
        self._exported: Counter[tuple[str, str]] = Counter()

    def update(self, counts: Counter[tuple[str, str]]) -> None:
        """counts  by (what, kind)"""
        for (what, kind), count in (counts - self._exported).items():
            self._counters[what].labels(kind).inc(count)
        self._exported = counts.copy()

    def diverged(self, nats: float) -> None:
        """A checked answer diverged so far from full attention's."""
        self._divergence.observe(nats)
