"""What is counted for a request, on its way to the front end that answers: pages read, and tokens computed again."""

from collections.abc import Mapping
from typing import Any

NAMED = "reprise_request"
"""key in `extra_args` that tells a worker which request the parameters belong to"""
PAGE_FIGURES = "reprise_pages"
"""key in `kv_transfer_params` for the page figures that the engine core reports to its front end"""
RECOMPUTED = "reprise_recomputed"
"""key there for how many tokens found at another position were computed again"""
FIGURES = ("listed_pages", "all_pages", "page_choices", "page_backtracks")
"""
What is counted over a request's decode steps, by its name in usage: pages read, pages in total, how often pages were
chosen, and how often because of uncertainty
"""
UNKNOWN = -(1 << 60)
"""so small that a sum with it stays negative"""


def of_prompt(figures: Mapping[str, int]) -> dict[str, int]:
    """Returns only the figures of a request's prompt, not those of its answer."""
    return {name: value for name, value in figures.items() if name not in FIGURES}


def take_figures(params: Mapping[str, Any] | None) -> tuple[dict[str, int], dict[str, Any] | None]:
    """Splits an output's `kv_transfer_params` into our figures, by their names in usage, and the other members."""
    if not params or not {PAGE_FIGURES, RECOMPUTED} & params.keys():
        return {}, params
    others = {name: value for name, value in params.items() if name not in (PAGE_FIGURES, RECOMPUTED)}
    figures = dict(zip(FIGURES, params.get(PAGE_FIGURES, ()), strict=False))
    # it never had a slot, or its figures are unknown
    if figures.get("all_pages", 0) <= 0:
        figures = {}
    if RECOMPUTED in params:
        figures["recomputed_tokens"] = params[RECOMPUTED]
    return figures, others or None
