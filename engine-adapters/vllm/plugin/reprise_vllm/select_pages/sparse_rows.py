"""Tracks which running requests are sparse, where they are in the batch, and the state of each."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reprise_vllm.usage.figures import FIGURES, UNKNOWN

NONE = -1
_UNSEEN_STEPS = 256


class SparseRows:
    """
    A slot for each sparse request, with its state in arrays for vectorised code.

    Model runner V1 moves requests between rows of the batch, and reports the moves. V2 keeps each request in a fixed
    place, and each step says which place a row uses. Both are `holders` here: the row or place that holds a request.
    """

    def __init__(self, slots: int, holders: int) -> None:
        self._slot_of = np.full(holders, NONE)
        self._free = list(range(slots))[::-1]
        self._holder_of = np.full(slots, NONE)
        self._seen = np.zeros(slots, dtype=np.int64)
        self._step = 0
        self.ratio = np.ones(slots)
        """share of its pages that the request wants to read"""
        self.summed = np.zeros(slots, dtype=np.int64)
        """number of pages with a summary, from the first on"""
        self.listed = np.zeros(slots, dtype=np.int64)
        """number of pages in the request's list; 0: no list yet"""
        self.chosen_at = np.zeros(slots, dtype=np.int64)
        """number of complete pages when the list was made; all pages from there on are read too"""
        self.age = np.zeros(slots, dtype=np.int64)
        """steps since the list was made"""
        self.figures = np.zeros((slots, len(FIGURES)), dtype=np.int64)
        """what was counted for each request since the last report"""
        self._names: list[str | None] = [None] * slots
        self.counts: Counter[tuple[str, str]] = Counter()
        """by (what, kind), since the start"""

    def __len__(self) -> int:
        return len(self._holder_of) - len(self._free)

    def add(self, holder: int, ratio: float | None, name: str | None = None) -> int | None:
        """
        Puts a request with this ratio, or a dense one (None), at `holder`. Returns its slot, or None if it stays dense.

        name: under which its figures are reported; None: they are not reported
        """
        self.remove(holder)
        if ratio is None:
            return None
        slot = self._free.pop() if self._free else self._take_abandoned()
        if slot is None:
            self.counts["pages_stock", "too_many"] += 1
            return None
        self.counts["pages_requests", "sparse"] += 1
        self._slot_of[holder], self._holder_of[slot], self._seen[slot] = slot, holder, self._step
        self.ratio[slot] = ratio
        self.summed[slot] = self.listed[slot] = self.chosen_at[slot] = self.age[slot] = 0
        self.figures[slot], self._names[slot] = 0, name
        return slot

    def follow(self, update: Any, add: Callable[..., None]) -> None:
        """Follows an update of model runner V1's batch. add: called with each new row, and what is told of it."""
        for row in update.removed:
            self.remove(row)
        for row, *told in update.added:
            add(row, *told)
        for one, two, direction in update.moved:
            self.move(one, two, is_swap=direction.name == "SWAP")

    def remove(self, holder: int) -> None:
        """Removes the request at `holder`."""
        slot = self._slot_of[holder]
        if slot != NONE:
            self._slot_of[holder] = self._holder_of[slot] = NONE
            self._free.append(int(slot))
            self._names[slot] = None

    def move(self, one: int, two: int, *, is_swap: bool) -> None:
        """Moves the request at `one` to `two`. A request at `two` is removed, or moved to `one` if `is_swap`."""
        if not is_swap:
            self.remove(two)
        slots = self._slot_of[[one, two]].tolist()
        for holder, slot in ((two, slots[0]), (one, slots[1])):
            self._slot_of[holder] = slot
            if slot != NONE:
                self._holder_of[slot] = holder

    def slots(self, holders: np.ndarray) -> np.ndarray:
        """Returns the slots of these holders, `NONE` for dense requests, and starts a new step."""
        self._step += 1
        slots = self._slot_of[holders]
        self._seen[slots[slots != NONE]] = self._step
        return slots

    def count(self, slots: np.ndarray, *figures: np.ndarray) -> None:
        """Adds figures (int64 [S] each, in the order of `FIGURES`) of the requests in these slots (int64 [S])."""
        self.figures[slots] += np.stack(figures, 1)

    def take_figures(self) -> dict[str, list[int]]:
        """Returns what was counted for requests with slots since the last call, by request."""
        named = zip(self._names, self.figures.tolist(), strict=True)
        counted = {name: figures for name, figures in named if name is not None and any(figures)}
        self.figures[:] = 0
        return counted

    def forget_figures(self) -> None:
        """Marks the figures of all requests with slots as unknown."""
        self.figures[:] = UNKNOWN

    def sampling(self, holders: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """
        Returns the indices (int64 [S]) of those holders whose requests list pages, which means that they are decoding,
        and their slots.
        """
        slots = self._slot_of[np.asarray(holders)]
        places = np.flatnonzero((slots != NONE) & (self.listed[slots] > 0))
        return places, slots[places]

    def _take_abandoned(self) -> int | None:
        """
        Takes the slot of a request that was not scheduled for long, or returns None if there is none.

        V2 does not report when a request is gone.
        """
        oldest = int(self._seen.argmin())
        if self._step - self._seen[oldest] < _UNSEEN_STEPS:
            return None
        self.remove(int(self._holder_of[oldest]))
        return self._free.pop()
