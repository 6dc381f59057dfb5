"""The leaves of a prefix tree in eviction order, kept from one eviction to the next."""

from collections.abc import Callable, Iterable
from typing import Any

from reprise_hotness.heat_order import HeatOrder


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
        """hotness_of: for promotion, which compares by another formula"""
        super().__init__(leaves)
        self._orders = [HeatOrder(key_of, self.__contains__) for key_of in (priority_of, hotness_of) if key_of]
        self.rekey()

    def add(self, leaf: Any) -> None:
        if leaf not in self:
            super().add(leaf)
            self.put_back(leaf)

    def pop_first(self) -> Any | None:
        """Returns the leaf to evict first, or None. It stays in the set until SGLang removes it."""
        return self._orders[0].pop()

    def pop_coldest(self) -> Any | None:
        """Like `pop_first`, for the leaf that makes way for a promoted node."""
        return self._orders[1].pop()

    def put_back(self, leaf: Any) -> None:
        """Re-inserts a popped leaf that was not evicted, or one whose priority has changed."""
        if leaf in self:
            for order in self._orders:
                order.put(leaf)

    def rekey(self) -> None:
        """Recomputes all priorities. O(n log n)."""
        for order in self._orders:
            order.rekey(self)
