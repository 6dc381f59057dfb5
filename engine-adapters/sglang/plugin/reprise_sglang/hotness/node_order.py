"""Nodes of a prefix tree in an order that is kept while they come and go."""

import heapq
from collections.abc import Callable, Iterable
from typing import Any


class NodeOrder:
    """
    A heap of nodes, lowest key first; of equal ones the one that came first, so all ranks find the same.

    A node that goes stays in the heap and is passed over, as is one whose key has changed: putting it anew is enough.
    Taking the first takes O(log n).
    """

    def __init__(self, key_of: Callable[[Any], float]) -> None:
        self._key_of = key_of
        self._entries: dict[int, int] = {}
        """by node id: which of its entries in the heap counts, the later the higher"""
        self._count = 0
        self._heap: list[tuple[float, int, Any]] = []

    @property
    def entries(self) -> int:
        """How many entries there are, those included that are passed over."""
        return len(self._heap)

    def put(self, node: Any) -> None:
        """A node comes, or has another key now."""
        self._count += 1
        self._entries[node.id] = self._count
        heapq.heappush(self._heap, (self._key_of(node), self._count, node))

    def pop(self, is_there: Callable[[Any], bool]) -> Any | None:
        """Takes the first node that is still there; None if there is none."""
        while self._heap:
            _, entry, node = heapq.heappop(self._heap)
            if self._entries.get(node.id) != entry:
                continue
            del self._entries[node.id]
            if is_there(node):
                return node
        return None

    def rekey(self, nodes: Iterable[Any]) -> None:
        """All keys anew, of these nodes alone. O(n log n)."""
        known = self._entries
        self._heap, self._entries = [], {}
        # SGLang's ids rise; a set has an order of its own on each rank
        for node in sorted(nodes, key=lambda node: (known.get(node.id, 0), node.id)):
            self._count += 1
            self._entries[node.id] = self._count
            self._heap.append((self._key_of(node), self._count, node))
        heapq.heapify(self._heap)
