"""`prompt_tokens_details.reused_tokens`: what was reused at another position and not computed again.

The engine core tells its front end, with a request's first token, how long the prompt is, how much of it was cached and
how much was computed. With reuse the three do not add up: what is missing was reused (`ReuseScheduler` sees to that).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from vllm.v1.metrics.stats import PrefillStats


class ReusedPrefillStats(PrefillStats):
    """What the engine core tells of a prompt of which some was reused: none of that is a block for other requests."""

    def finalize(self, num_cached_tokens: int) -> None:
        super().finalize(min(num_cached_tokens, self.num_cached_tokens))


def prefill_stats(prompt: int, begin: int, exact: int, reused: int) -> PrefillStats:
    """The stats of a prompt of which the first `begin` tokens were vLLM's own hit, `exact` in all are exact."""
    return ReusedPrefillStats(
        num_prompt_tokens=prompt, num_computed_tokens=prompt - exact - reused, num_cached_tokens=exact,
        num_local_cached_tokens=begin, num_external_cached_tokens=exact - begin + reused,
    )  # fmt: skip


class CachedTokens(int):
    """How many tokens were cached exactly; remembers how many more were reused."""

    reused: int

    def __new__(cls, exact: int, reused: int) -> "CachedTokens":
        made = super().__new__(cls, exact)
        made.reused = reused
        return made


def tell_reused_tokens() -> None:
    """Has the front end of this process tell what was reused, in answers and in streams. May be called twice.

    Without reuse nothing changes: the three numbers add up.
    """
    from vllm.entrypoints.openai.responses.protocol import InputTokensDetails
    from vllm.entrypoints.serve.engine.protocol import PromptTokenUsageInfo
    from vllm.v1.engine.output_processor import OutputProcessor

    if getattr(OutputProcessor.process_outputs, "is_reprises", False):
        return
    OutputProcessor.process_outputs = _marking(OutputProcessor.process_outputs)
    for details in (PromptTokenUsageInfo, InputTokensDetails):
        details.__init__ = _telling(details.__init__)


def _marking(process: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(process)
    def process_outputs(self: Any, engine_core_outputs: list[Any], *arguments: Any, **named: Any) -> Any:
        for output in engine_core_outputs:
            stats = output.prefill_stats
            if stats is not None:
                reused = stats.num_prompt_tokens - stats.num_computed_tokens - stats.num_cached_tokens
                if reused > 0:
                    stats.num_cached_tokens = CachedTokens(stats.num_cached_tokens, reused)
        return process(self, engine_core_outputs, *arguments, **named)

    process_outputs.is_reprises = True
    return process_outputs


def _telling(initialize: Callable[..., None]) -> Callable[..., None]:
    @wraps(initialize)
    def init(self: Any, **given: Any) -> None:
        cached = given.get("cached_tokens")
        if isinstance(cached, CachedTokens):
            given = {**given, "cached_tokens": int(cached), "reused_tokens": cached.reused}
        initialize(self, **given)

    return init
