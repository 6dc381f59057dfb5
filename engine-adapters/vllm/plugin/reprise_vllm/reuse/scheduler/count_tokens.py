"""Counts a prompt's tokens by what became of them: exact, reused, recomputed or cold."""

from collections import Counter

from reprise_vllm.reuse.scheduler.asked import Asked
from reprise_vllm.reuse.scheduler.claims import Claim
from reprise_vllm.usage.prompt_tokens_details import prefill_stats

Counts = Counter[tuple[str, str]]
"""by (what, kind)"""


def count_tokens(counts: Counts, asked: Asked, claim: Claim | None) -> None:
    """Counts the tokens of a prompt that reuses rows of an earlier turn or of a claim, and notes them for its usage."""
    request, asked.is_counted = asked.request, True
    earlier = asked.cached - asked.earlier.exact_tokens if asked.earlier else 0
    exact = asked.cached - earlier + (claim.exact if claim else 0)
    asked.reused = earlier + (claim.reused if claim else 0)
    asked.recomputed = claim.budget if claim else 0
    counts["tokens", "exact"] += exact
    counts["tokens", "reused"] += asked.reused
    counts["tokens", "recomputed"] += asked.recomputed
    counts["tokens", "cold"] += request.num_prompt_tokens - exact - asked.reused - asked.recomputed
    if request.prefill_stats is not None:
        request.prefill_stats = prefill_stats(request.num_prompt_tokens, asked.cached, exact, asked.reused)


def count_stock_tokens(counts: Counts, asked: Asked) -> None:
    """Counts the tokens of a prompt for which nothing was reused."""
    stats = asked.request.prefill_stats
    exact = stats.num_cached_tokens if stats is not None else 0
    counts["tokens", "exact"] += exact
    counts["tokens", "cold"] += asked.request.num_prompt_tokens - exact
