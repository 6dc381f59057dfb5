"""The leaves of a prefix tree in eviction order, kept from one eviction to the next."""

from collections.abc import Callable, Iterable
from typing import Any

from reprise_sglang.hotness.node_order import NodeOrder


class EvictableLeaves(set[Any]):
    """
    SGLang's set of evictable leaves, with their order: a leaf enters a heap when it enters the set.

    SGLang locks a leaf while it is used and releases it later, so it leaves the set and comes back with its new key.
    """

    def __init__(
        self,
        leaves: Iterable[Any],
        priority_of: Callable[[Any], float],
        hotness_of: Callable[[Any], float] | None = None,
    ) -> None:
        super().__init__(leaves)
        self._by_priority = NodeOrder(priority_of)
        self._by_hotness = NodeOrder(hotness_of) if hotness_of else None
        """for promotion, which compares by a different formula"""
        self.rekey()

    def add(self, leaf: Any) -> None:
        if leaf not in self:
            super().add(leaf)
            self._put(leaf)

    def pop_first(self) -> Any | None:
        """Returns the leaf to evict first, or None. It stays in the set until SGLang removes it."""
        return self._by_priority.pop(self.__contains__)

    def pop_coldest(self) -> Any | None:
        """Like `pop_first`, for the leaf that makes way for a promoted node."""
        return self._by_hotness.pop(self.__contains__) if self._by_hotness else None

    def put_back(self, leaf: Any) -> None:
        """Re-inserts a popped leaf that was not evicted, or one whose priority has changed."""
        if leaf in self:
            self._put(leaf)

    def rekey(self) -> None:
        """Recomputes all priorities. O(n log n)."""
        for order in self._orders():
            order.rekey(self)

    def _put(self, leaf: Any) -> None:
        for order in self._orders():
            # most entries are stale: their leaves were used again
            if order.entries > 2 * len(self) + 1024:
                order.rekey(self)
            else:
                order.put(leaf)

    def _orders(self) -> Iterable[NodeOrder]:
        return (self._by_priority, self._by_hotness) if self._by_hotness else (self._by_priority,)
