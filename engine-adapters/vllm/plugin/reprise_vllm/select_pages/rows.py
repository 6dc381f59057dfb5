"""Which running requests are sparse, where they sit in the batch, and what is known of each."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from reprise_vllm.select_pages.told import FIGURES, UNKNOWN, PageReport

NONE = -1
_UNSEEN_STEPS = 256


class SparseRows:
    """
    A slot for each sparse request, with numbers that vectorised code reads.

    Model runner V1 moves requests between rows of the batch, and says so; V2 keeps each in a place of its own, and
    each step says which place a row has. Both are `holders` here: what holds a request, a row or a place.
    """

    def __init__(self, slots: int, holders: int) -> None:
        self._slot_of = np.full(holders, NONE)
        self._free = list(range(slots))[::-1]
        self._holder_of = np.full(slots, NONE)
        self._seen = np.zeros(slots, dtype=np.int64)
        self._step = 0
        self.ratio = np.ones(slots)
        """share of its pages that the request may have read"""
        self.summed = np.zeros(slots, dtype=np.int64)
        """pages that have a summary, from the first on"""
        self.listed = np.zeros(slots, dtype=np.int64)
        """pages in the request's list; 0: none is made yet"""
        self.chosen_at = np.zeros(slots, dtype=np.int64)
        """complete pages when the list was made: pages from there on are read too"""
        self.age = np.zeros(slots, dtype=np.int64)
        """steps since"""
        self.figures = np.zeros((slots, len(FIGURES)), dtype=np.int64)
        """what was counted since the request has its slot"""
        self._named: tuple[tuple[str, int] | None, ...] = (None,) * slots
        self._stays = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        """(what, of which kind), since the start"""

    def __len__(self) -> int:
        return len(self._holder_of) - len(self._free)

    def add(self, holder: int, ratio: float | None, name: str | None = None) -> int | None:
        """
        A request of this ratio, or a dense one (None), is at `holder` from now on; its slot, where it has one.

        name: by which its figures are reported; None: they are not
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
        self._stays += 1
        self._name(slot, None if name is None else (name, self._stays))
        return slot

    def remove(self, holder: int) -> None:
        """The request at `holder` is gone."""
        slot = self._slot_of[holder]
        if slot != NONE:
            self._slot_of[holder] = self._holder_of[slot] = NONE
            self._free.append(int(slot))
            self._name(int(slot), None)

    def move(self, one: int, two: int, *, is_swap: bool) -> None:
        """The request at `one` is at `two` from now on; what was at `two` is gone, or at `one`."""
        if not is_swap:
            self.remove(two)
        slots = self._slot_of[[one, two]].tolist()
        for holder, slot in ((two, slots[0]), (one, slots[1])):
            self._slot_of[holder] = slot
            if slot != NONE:
                self._holder_of[slot] = holder

    def slots(self, holders: np.ndarray) -> np.ndarray:
        """The slots of these holders, `NONE` where a request is dense."""
        self._step += 1
        slots = self._slot_of[holders]
        self._seen[slots[slots != NONE]] = self._step
        return slots

    def report(self) -> PageReport | None:
        """What was counted of the requests that have slots; None where none has."""
        return PageReport(self._named, self.figures.copy()) if len(self) else None

    def forget_figures(self) -> None:
        """Of the requests that have slots now it is not known what was read."""
        self.figures[:] = UNKNOWN

    def sampling(self, holders: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """
        Of these holders those (int64 [S], by their place) whose requests list pages, so are decoding; and their
        slots.
        """
        slots = self._slot_of[np.asarray(holders)]
        places = np.flatnonzero((slots != NONE) & (self.listed[slots] > 0))
        return places, slots[places]

    def _name(self, slot: int, holder: tuple[str, int] | None) -> None:
        self.figures[slot] = 0
        self._named = (*self._named[:slot], holder, *self._named[slot + 1 :])

    def _take_abandoned(self) -> int | None:
        """V2 does not say when a request is gone: one that has not been scheduled for long has lost its slot."""
        oldest = int(self._seen.argmin())
        if self._step - self._seen[oldest] < _UNSEEN_STEPS:
            return None
        self.remove(int(self._holder_of[oldest]))
        return self._free.pop()
