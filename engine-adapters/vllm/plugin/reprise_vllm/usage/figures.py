"""What is counted for a request, on its way to the front end that answers: pages read, and tokens computed again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reprise_settings.page_settings import ASKED

if TYPE_CHECKING:
    from vllm.v1.request import Request

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


@dataclass(frozen=True, slots=True)
class PageReport:
    """The sparse requests that a worker holds, and what was counted for each since it got its slot."""

    holders: tuple[tuple[str, int] | None, ...]
    """by slot: the request, and a number unique to this stay in a slot"""
    figures: np.ndarray
    """int64 [slots, figures]"""


def of_prompt(figures: Mapping[str, int]) -> dict[str, int]:
    """Returns only the figures of a request's prompt, not those of its answer."""
    return {name: value for name, value in figures.items() if name not in FIGURES}


def take_figures(params: Mapping[str, Any] | None) -> tuple[dict[str, int], dict[str, Any] | None]:
    """Splits an output's `kv_transfer_params` into our figures, by their names in usage, and the other members."""
    if not params or not {PAGE_FIGURES, RECOMPUTED} & params.keys():
        return {}, params
    others = {name: value for name, value in params.items() if name not in (PAGE_FIGURES, RECOMPUTED)}
    pages: Sequence[int] = params.get(PAGE_FIGURES, ())
    figures = dict(zip(FIGURES, pages, strict=True)) if pages else {}
    if RECOMPUTED in params:
        figures["recomputed_tokens"] = params[RECOMPUTED]
    return figures, others or None


class RequestFigures:
    """The scheduler's side: adds up what workers report for each request, and returns it when the request ends."""

    def __init__(self) -> None:
        self._before: dict[str, np.ndarray] = {}
        """by active request that asked for selection: the figures of its earlier stays in a slot"""
        self._last: PageReport | None = None
        self._ended: list[tuple[str, np.ndarray, list[int]]] = []
        """ended requests whose last step has not been reported yet"""

    def begin(self, request: "Request") -> None:
        """Starts counting for a request that asks for selection, and passes its name to workers."""
        sampling = request.sampling_params
        if sampling is None or not sampling.extra_args or ASKED not in sampling.extra_args:
            return
        sampling.extra_args = {**sampling.extra_args, NAMED: request.request_id}
        self._before[request.request_id] = np.zeros(len(FIGURES), dtype=np.int64)

    def heard(self, report: PageReport | None) -> None:
        """Processes a worker's report. Called with a step's output, after `finished` for requests that ended in it."""
        if report is not None:
            self._settle(report)
            self._last = report
        for name, before, figures in self._ended:
            figures[:] = self._figures_of(name, before)
        self._ended.clear()

    def finished(self, request: "Request") -> dict[str, Any] | None:
        """
        Returns what the front end gets as `kv_transfer_params` for a request that has ended; None if it did not ask.

        vLLM calls this before it delivers the last step's report, so `heard` fills in the final figures.
        """
        before = self._before.pop(request.request_id, None)
        if before is None:
            return None
        figures = self._figures_of(request.request_id, before)
        self._ended.append((request.request_id, before, figures))
        return {PAGE_FIGURES: figures}

    def _settle(self, report: PageReport) -> None:
        """Adds up the figures of stays in a slot that have ended, of requests that ended with this step too."""
        if self._last is None or self._last.holders == report.holders:
            return
        sums = self._before | {name: before for name, before, _ in self._ended}
        for old, new, figures in zip(self._last.holders, report.holders, self._last.figures, strict=True):
            if old is not None and old != new and old[0] in sums:
                sums[old[0]] += figures

    def _figures_of(self, name: str, before: np.ndarray) -> list[int]:
        """Returns a request's figures; empty if it never had a slot, or if they are unknown."""
        figures = before.copy()
        if self._last is not None:
            for holder, counted in zip(self._last.holders, self._last.figures, strict=True):
                if holder is not None and holder[0] == name:
                    figures += counted
        return figures.tolist() if figures[FIGURES.index("all_pages")] > 0 else []
