"""Counts a prompt's tokens by what became of them: exact, reused, recomputed or cold."""

from collections import Counter

from reprise_reuse.prompts.claims import Claim
from reprise_vllm.reuse.scheduler.asked import Asked
from reprise_vllm.usage.prompt_tokens_details import prefill_stats

Counts = Counter[tuple[str, str]]
"""by (what, kind)"""


def note_tokens(asked: Asked, claim: Claim | None) -> None:
    """Notes what is to become of a prompt that reuses rows of an earlier turn or of a claim, also for its usage."""
    asked.is_counted = True
    asked.earlier_reused = asked.cached - asked.earlier.exact_tokens if asked.earlier else 0
    asked.cached_exact = asked.cached - asked.earlier_reused
    asked.exact = asked.cached_exact + (claim.exact if claim else 0)
    asked.reused = asked.earlier_reused + (claim.reused if claim else 0)
    asked.recomputed = claim.budget if claim else 0
    _put_in_usage(asked)


def lose_tokens(asked: Asked, rows: int) -> None:
    """Notes that so many rows of its claim were missing, or not loaded at all, and are computed like any others."""
    for name, least in (("reused", asked.earlier_reused), ("recomputed", 0), ("exact", asked.cached_exact)):
        taken = min(rows, getattr(asked, name) - least)
        setattr(asked, name, getattr(asked, name) - taken)
        rows -= taken
    _put_in_usage(asked)


def count_tokens(counts: Counts, asked: Asked) -> None:
    """Counts the tokens of a prompt whose tokens were noted, once what was lost is known."""
    noted = {"exact": asked.exact, "reused": asked.reused, "recomputed": asked.recomputed}
    for kind, count in noted.items():
        counts["tokens", kind] += count
    counts["tokens", "cold"] += asked.request.num_prompt_tokens - sum(noted.values())


def _put_in_usage(asked: Asked) -> None:
    """Has usage report what is noted, unless the first token, with which it is reported, was computed already."""
    request = asked.request
    if request.prefill_stats is not None:
        request.prefill_stats = prefill_stats(request.num_prompt_tokens, asked.cached, asked.exact, asked.reused)


def count_stock_tokens(counts: Counts, asked: Asked) -> None:
    """Counts the tokens of a prompt for which nothing was reused."""
    stats = asked.request.prefill_stats
    exact = stats.num_cached_tokens if stats is not None else 0
    counts["tokens", "exact"] += exact
    counts["tokens", "cold"] += asked.request.num_prompt_tokens - exact
