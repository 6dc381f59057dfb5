"""`prompt_tokens_details`: what was found at another position, reused or computed again, and what pages were read.

With a request's first token, the engine core reports to its front end how long the prompt is, how much of it was cached
and how much was computed. With reuse the three do not add up: the rest was reused (`ReuseScheduler` ensures this). With
the last token it reports how many tokens were computed again, and which pages were read (`figures.py`). Streams take
the number of cached tokens from the first output but send it with the last. So what is known at the end is added to the
object given out at the beginning.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from vllm.v1.metrics.stats import PrefillStats

from reprise_vllm.usage.figures import of_prompt, take_figures


class ReusedPrefillStats(PrefillStats):
    """The engine core's stats for a prompt with reused tokens, which are not cached blocks for other requests."""

    def finalize(self, num_cached_tokens: int) -> None:
        super().finalize(min(num_cached_tokens, self.num_cached_tokens))


def prefill_stats(prompt: int, begin: int, exact: int, reused: int) -> PrefillStats:
    """Returns the stats of a prompt: its first `begin` tokens are vLLM's own hit, `exact` tokens in all are exact."""
    return ReusedPrefillStats(
        num_prompt_tokens=prompt, num_computed_tokens=prompt - exact - reused, num_cached_tokens=exact,
        num_local_cached_tokens=begin, num_external_cached_tokens=exact - begin + reused,
    )  # fmt: skip


class CachedTokens(int):
    """The number of exactly cached tokens, with the number of reused tokens and, at the end, all other figures."""

    figures: dict[str, int]
    """by their names in usage"""

    def __new__(cls, exact: int, reused: int = 0) -> "CachedTokens":
        made = super().__new__(cls, exact)
        made.figures = {"reused_tokens": reused} if reused > 0 else {}
        return made

    def __bool__(self) -> bool:
        # `cached or 0` must yield this object if it has something to report
        return int(self) > 0 or bool(self.figures)

    @property
    def details(self) -> dict[str, int]:
        """The members to add to usage."""
        return {"cached_tokens": int(self), **self.figures}


def report_in_usage() -> None:
    """Makes this process's front end report what was reused and read, in answers and streams. May be called twice.

    Without reuse and page selection nothing changes: the three numbers add up, and no pages are reported.
    """
    from vllm.entrypoints.openai.responses.protocol import InputTokensDetails
    from vllm.entrypoints.serve.engine.protocol import PromptTokenUsageInfo
    from vllm.v1.engine.output_processor import OutputProcessor

    if getattr(OutputProcessor.process_outputs, "is_reprises", False):
        return
    OutputProcessor.process_outputs = _marking(OutputProcessor.process_outputs)
    for details in (PromptTokenUsageInfo, InputTokensDetails):
        details.__init__ = _adding_details(details.__init__)


def _marking(process: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(process)
    def process_outputs(self: Any, engine_core_outputs: list[Any], *arguments: Any, **named: Any) -> Any:
        for output in engine_core_outputs:
            stats, state = output.prefill_stats, self.request_states.get(output.request_id)
            cached = None if state is None else state.num_cached_tokens
            if stats is not None:
                reused = stats.num_prompt_tokens - stats.num_computed_tokens - stats.num_cached_tokens
                cached = stats.num_cached_tokens = CachedTokens(stats.num_cached_tokens, reused)
            figures, output.kv_transfer_params = take_figures(output.kv_transfer_params)
            if figures and isinstance(cached, CachedTokens):
                # several samples (`n`) share one usage: that of a prompt
                is_alone = state is not None and state.parent_req is None
                cached.figures |= figures if is_alone else of_prompt(figures)
        return process(self, engine_core_outputs, *arguments, **named)

    process_outputs.is_reprises = True
    return process_outputs


def _adding_details(initialize: Callable[..., None]) -> Callable[..., None]:
    @wraps(initialize)
    def init(self: Any, **given: Any) -> None:
        cached = given.get("cached_tokens")
        if isinstance(cached, CachedTokens):
            given = {**given, **cached.details}
        initialize(self, **given)

    return init
