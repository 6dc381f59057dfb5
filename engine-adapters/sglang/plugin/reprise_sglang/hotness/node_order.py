"""Nodes of a prefix tree in an order that is kept as they come and go."""

import heapq
from collections.abc import Callable, Iterable
from typing import Any


class NodeOrder:
    """
    A heap of nodes, lowest key first. Among equal keys the oldest entry wins, so all ranks find the same node.

    A node that is gone stays in the heap and is skipped, and so is an old entry of a node whose key has changed: put
    such a node again. Taking the first node takes O(log n).
    """

    def __init__(self, key_of: Callable[[Any], float]) -> None:
        self._key_of = key_of
        self._entries: dict[int, int] = {}
        """by node id: the number of its valid entry in the heap; later entries have higher numbers"""
        self._count = 0
        self._heap: list[tuple[float, int, Any]] = []

    @property
    def entries(self) -> int:
        """How many entries the heap has, stale ones included."""
        return len(self._heap)

    def put(self, node: Any) -> None:
        """Adds a node, or updates its key."""
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
        """Recomputes all keys and keeps only these nodes. O(n log n)."""
        known = self._entries
        self._heap, self._entries = [], {}
        # SGLang's ids increase; the iteration order of a set differs between ranks
        for node in sorted(nodes, key=lambda node: (known.get(node.id, 0), node.id)):
            self._count += 1
            self._entries[node.id] = self._count
            self._heap.append((self._key_of(node), self._count, node))
        heapq.heapify(self._heap)
