"""What may go or come, in an order that is kept as it changes."""

import heapq
from collections.abc import Callable, Collection, Iterable
from operator import attrgetter
from typing import Any


class HeatOrder:
    """
    A heap, lowest key first. Among equal keys the oldest entry wins, so all ranks find the same.

    What is gone stays in the heap and is skipped, and so is an old entry of what has another key now: put that again.
    Putting and taking takes O(log n).
    """

    def __init__(
        self, key_of: Callable[[Any], float], is_there: Callable[[Any], bool],
        name_of: Callable[[Any], Any] = attrgetter("id"),
    ) -> None:  # fmt: skip
        """name_of: a name that is different for each, and rises with time if its key may not decide"""
        self._key_of, self._is_there, self._name_of = key_of, is_there, name_of
        self._entries: dict[Any, int] = {}
        """by name: the number of its valid entry in the heap; later entries have higher numbers"""
        self._count = 0
        self._heap: list[tuple[float, int, Any]] = []
        self._kept = 0
        """entries that were left when it was cleared of what is gone"""

    def put(self, one: Any) -> None:
        """Adds it, or updates its key."""
        if len(self._heap) > 2 * self._kept + 1024:
            self.rekey()
        heapq.heappush(self._heap, self._entry_of(one))

    def pop(self) -> Any | None:
        """Takes the first that is still there; None if there is none. Put it back if it stays."""
        while self._heap:
            entry = heapq.heappop(self._heap)
            if self._is_valid(entry):
                del self._entries[self._name_of(entry[2])]
                if self._is_there(entry[2]):
                    return entry[2]
        return None

    def first(self, most: int, spared: Collection[Any] = ()) -> list[Any]:
        """Returns at most so many that are still there and not spared. All stay where they are."""
        found, passed = [], []
        while self._heap and len(found) < most:
            entry = heapq.heappop(self._heap)
            if self._is_valid(entry) and self._is_there(entry[2]):
                passed.append(entry)
                if entry[2] not in spared:
                    found.append(entry[2])
        for entry in passed:
            heapq.heappush(self._heap, entry)
        return found

    def rekey(self, those: Iterable[Any] | None = None) -> None:
        """Recomputes all keys, and keeps only these; None: those that are still there. O(n log n)."""
        known = self._entries
        if those is None:
            those = [entry[2] for entry in self._heap if self._is_valid(entry) and self._is_there(entry[2])]
        self._entries = {}
        # the iteration order of a set differs between ranks
        order = sorted(those, key=lambda one: (known.get(self._name_of(one), 0), self._name_of(one)))
        self._heap = [self._entry_of(one) for one in order]
        heapq.heapify(self._heap)
        self._kept = len(self._heap)

    def _entry_of(self, one: Any) -> tuple[float, int, Any]:
        self._count += 1
        self._entries[self._name_of(one)] = self._count
        return self._key_of(one), self._count, one

    def _is_valid(self, entry: tuple[float, int, Any]) -> bool:
        return self._entries.get(self._name_of(entry[2])) == entry[1]
