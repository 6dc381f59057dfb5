"""What workers count for each request: added up over its stays in a slot, and returned when it ends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reprise_vllm.select_pages.wishes.settings import ASKED
from reprise_vllm.usage.figures import FIGURES, NAMED, PAGE_FIGURES, PageReport

if TYPE_CHECKING:
    from vllm.v1.request import Request


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
