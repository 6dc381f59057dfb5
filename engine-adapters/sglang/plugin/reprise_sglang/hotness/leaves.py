"""The leaves of a prefix tree in the order in which they are evicted, kept from one eviction to the next."""

from collections.abc import Callable, Iterable
from typing import Any

from reprise_sglang.hotness.node_order import NodeOrder


class EvictableLeaves(set[Any]):
    """
    SGLang's set of evictable leaves, which remembers their order: a leaf enters a heap when it enters the set.

    SGLang locks a leaf that is used and releases it later, so it leaves the set and comes back with its new key.
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
        """for promotion, which compares by another formula"""
        self.rekey()

    def add(self, leaf: Any) -> None:
        if leaf not in self:
            super().add(leaf)
            self._put(leaf)

    def pop_first(self) -> Any | None:
        """Returns the leaf that is evicted first, None without one. It stays in the set, until SGLang takes it out."""
        return self._by_priority.pop(self.__contains__)

    def pop_coldest(self) -> Any | None:
        """The same of the leaf that makes way for what is promoted."""
        return self._by_hotness.pop(self.__contains__) if self._by_hotness else None

    def put_back(self, leaf: Any) -> None:
        """A leaf that was popped was not evicted, or one has another priority now."""
        if leaf in self:
            self._put(leaf)

    def rekey(self) -> None:
        """All priorities anew. O(n log n)."""
        for order in self._orders():
            order.rekey(self)

    def _put(self, leaf: Any) -> None:
        for order in self._orders():
            # most entries are of leaves that were used meanwhile
            if order.entries > 2 * len(self) + 1024:
                order.rekey(self)
            else:
                order.put(leaf)

    def _orders(self) -> Iterable[NodeOrder]:
        return (self._by_priority, self._by_hotness) if self._by_hotness else (self._by_priority,)
