"""What was read for each request, from the worker that chose it to the front end that answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reprise_vllm.select_pages.settings import ASKED

if TYPE_CHECKING:
    from vllm.v1.request import Request

NAMED = "reprise_request"
"""the name in `extra_args` under which a worker is told whose parameters they are"""
TOLD = "reprise_pages"
"""the name in `kv_transfer_params` of what the engine core tells its front end"""
FIGURES = ("listed_pages", "all_pages", "page_choices", "page_backtracks")
"""
What is counted of a request's decode steps, as usage calls it: pages that were read, pages that there were, times that
pages were chosen, and those of them for which uncertainty was the reason
"""
UNKNOWN = -(1 << 60)
"""whatever is added to it, it is less than none"""


@dataclass(frozen=True, slots=True)
class PageReport:
    """The sparse requests that a worker holds, and what was counted of each since it has its slot."""

    holders: tuple[tuple[str, int] | None, ...]
    """of each slot: the request, and a number that only this stay in a slot has"""
    figures: np.ndarray
    """int64 [slots, figures]"""


class PageBook:
    """The scheduler's side: adds up what workers report of each request, and tells it when the request is over."""

    def __init__(self) -> None:
        self._before: dict[str, np.ndarray] = {}
        """of each request under way that asked: the figures of its earlier stays"""
        self._last: PageReport | None = None
        self._ended: list[tuple[str, np.ndarray, list[int]]] = []
        """requests whose last step has not been reported"""

    def begin(self, request: "Request") -> None:
        """A request arrives. Of one that asks for selection, workers learn the name."""
        sampling = request.sampling_params
        if sampling is None or not sampling.extra_args or ASKED not in sampling.extra_args:
            return
        sampling.extra_args = {**sampling.extra_args, NAMED: request.request_id}
        self._before[request.request_id] = np.zeros(len(FIGURES), dtype=np.int64)

    def heard(self, report: PageReport | None) -> None:
        """As a step's output is processed, behind `finished` of the requests that it finished."""
        if report is not None:
            self._settle(report)
            self._last = report
        for name, before, told in self._ended:
            told[:] = self._told(name, before)
        self._ended.clear()

    def finished(self, request: "Request") -> dict[str, Any] | None:
        """
        The request is over: what its front end is told, as `kv_transfer_params`.

        vLLM asks for it before it hands over the report of the last step, so the figures are put in by `heard`.
        """
        before = self._before.pop(request.request_id, None)
        if before is None:
            return None
        told = self._told(request.request_id, before)
        self._ended.append((request.request_id, before, told))
        return {TOLD: told}

    def _settle(self, report: PageReport) -> None:
        """Keeps the figures of stays that have ended."""
        if self._last is None or self._last.holders == report.holders:
            return
        for old, new, figures in zip(self._last.holders, report.holders, self._last.figures, strict=True):
            if old is not None and old != new and old[0] in self._before:
                self._before[old[0]] += figures

    def _told(self, name: str, before: np.ndarray) -> list[int]:
        """The figures of a request; none where it never had a slot, or where they are not known."""
        figures = before.copy()
        if self._last is not None:
            for holder, counted in zip(self._last.holders, self._last.figures, strict=True):
                if holder is not None and holder[0] == name:
                    figures += counted
        return figures.tolist() if figures[FIGURES.index("all_pages")] > 0 else []


def take_told(params: Mapping[str, Any] | None) -> tuple[dict[str, int], dict[str, Any] | None]:
    """Of `kv_transfer_params` of an output what is said of pages, as usage has it, and the others' part."""
    if not params or TOLD not in params:
        return {}, params
    others = {name: value for name, value in params.items() if name != TOLD}
    told: Sequence[int] = params[TOLD]
    return dict(zip(FIGURES, told, strict=True)) if told else {}, others or None
