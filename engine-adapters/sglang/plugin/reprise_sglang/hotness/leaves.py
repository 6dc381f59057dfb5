"""The leaves of a prefix tree in the order in which they are evicted, kept from one eviction to the next."""

import heapq
from collections.abc import Callable, Iterable
from typing import Any


class EvictableLeaves(set[Any]):
    """
    SGLang's set of evictable leaves, which remembers their order: a leaf enters a heap when it enters the set.

    SGLang locks a leaf that is used and releases it later, so it leaves the set and comes back with its new key. What
    left the set stays in the heap and is passed over. Of equal leaves the one goes first that came first, so all ranks
    choose the same. Taking the first takes O(log n).
    """

    def __init__(self, leaves: Iterable[Any], priority_of: Callable[[Any], float]) -> None:
        super().__init__(leaves)
        self._priority_of = priority_of
        self._entries: dict[int, int] = {}
        """by node id: which of its entries in the heap counts, the later the higher"""
        self._count = 0
        self._heap: list[tuple[float, int, Any]] = []
        self.rekey()

    def add(self, leaf: Any) -> None:
        if leaf not in self:
            super().add(leaf)
            self._push(leaf)

    def pop_first(self) -> Any | None:
        """Returns the leaf that goes first, None if there is none. It stays in the set, until SGLang takes it out."""
        while self._heap:
            _, entry, leaf = heapq.heappop(self._heap)
            if self._entries.get(leaf.id) != entry:
                continue
            del self._entries[leaf.id]
            if leaf in self:
                return leaf
        return None

    def put_back(self, leaf: Any) -> None:
        """A leaf that was popped was not evicted, or one has another priority now."""
        if leaf in self:
            self._push(leaf)

    def rekey(self) -> None:
        """All priorities anew. O(n log n)."""
        known = self._entries
        self._heap, self._entries = [], {}
        # SGLang's ids rise; a set has an order of its own on each rank
        for leaf in sorted(self, key=lambda leaf: (known.get(leaf.id, 0), leaf.id)):
            self._count += 1
            self._entries[leaf.id] = self._count
            self._heap.append((self._priority_of(leaf), self._count, leaf))
        heapq.heapify(self._heap)

    def _push(self, leaf: Any) -> None:
        # most entries are of leaves that were used meanwhile
        if len(self._heap) > 2 * len(self) + 1024:
            self.rekey()
            return
        self._count += 1
        self._entries[leaf.id] = self._count
        heapq.heappush(self._heap, (self._priority_of(leaf), self._count, leaf))
