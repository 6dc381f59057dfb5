"""What is known about each sparse request from step to step, on the host."""

from collections.abc import Sequence

import numpy as np

NONE = -1


class HeldRequests:
    """
    A slot for each sparse request in the decode batches.

    A running request is in every decode batch. One that missed a batch was retracted and recomputed, so its slot starts
    over. The engine does not report the end of a request, so slots are reclaimed when another request needs one.
    """

    def __init__(self, slots: int) -> None:
        self._slot_of: dict[str, int] = {}
        self._name_of: list[str | None] = [None] * slots
        self._step = 0
        self._seen = np.zeros(slots, dtype=np.int64)
        self._length = np.zeros(slots, dtype=np.int64)
        self.ratio = np.ones(slots)
        self.summed = np.zeros(slots, dtype=np.int64)
        """pages that have a summary, counted from the first page"""
        self.listed = np.zeros(slots, dtype=np.int64)
        """pages in the request's list; 0: no list yet"""
        self.chosen_at = np.zeros(slots, dtype=np.int64)
        """complete pages when the list was made: all pages from this one on are read too"""
        self.age = np.zeros(slots, dtype=np.int64)
        """steps since the list was made"""

    def begin_step(self, names: Sequence[str], ratios: Sequence[float | None], lengths: np.ndarray) -> np.ndarray:
        """Returns the slots of a decode batch's requests: int64 [B], `NONE` if a request is dense or gets no slot."""
        self._step += 1
        slots = np.full(len(names), NONE)
        asking = [row for row, ratio in enumerate(ratios) if ratio is not None]
        known = [row for row in asking if names[row] in self._slot_of]
        for row in known:
            slot = slots[row] = self._slot_of[names[row]]
            if self._seen[slot] != self._step - 1 or self._length[slot] != lengths[row] - 1:
                self._begin(slot, ratios[row])
            self._seen[slot] = self._step
        for row in sorted(set(asking) - set(known)):
            slot = self._take()
            if slot is None:
                break
            self._slot_of[names[row]], self._name_of[slot] = slot, names[row]
            self._begin(slot, ratios[row])
            slots[row], self._seen[slot] = slot, self._step
        held = slots != NONE
        self._length[slots[held]] = lengths[held]
        return slots

    def _take(self) -> int | None:
        """Takes the slot that was used least recently; None if all are used in this step."""
        slot = int(self._seen.argmin())
        if self._seen[slot] == self._step:
            return None
        name = self._name_of[slot]
        if name is not None:
            del self._slot_of[name]
        return slot

    def _begin(self, slot: int, ratio: float) -> None:
        self.ratio[slot] = ratio
        self.summed[slot] = self.listed[slot] = self.chosen_at[slot] = self.age[slot] = 0
