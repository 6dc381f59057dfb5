"""The nodes of a prefix tree that are only on the host, hottest first."""

from collections.abc import Callable
from typing import Any

from reprise_sglang.hotness.node_order import NodeOrder


class HostNodes:
    """
    Nodes that have left the GPU but not the host.

    Nodes are added when they leave the GPU. Whether they came back or left the host is only checked when they are
    taken.
    """

    def __init__(self, hotness_of: Callable[[Any], float], is_on_host: Callable[[Any], bool]) -> None:
        self._is_on_host = is_on_host
        self._nodes: dict[int, Any] = {}
        self._order = NodeOrder(lambda node: -hotness_of(node))

    def put(self, node: Any) -> None:
        """Adds a node that is, or is about to be, only on the host."""
        if self._order.entries > 2 * len(self._nodes) + 1024:
            self.rekey()
        self._nodes[node.id] = node
        self._order.put(node)

    def pop_hottest(self) -> Any | None:
        """Takes the hottest node; None if there is none. The caller must put back a node that stays on the host."""
        node = self._order.pop(self._is_on_host)
        if node is not None:
            del self._nodes[node.id]
        return node

    def rekey(self) -> None:
        """Recomputes the hotness of all nodes. O(n log n)."""
        self._nodes = {node_id: node for node_id, node in self._nodes.items() if self._is_on_host(node)}
        self._order.rekey(self._nodes.values())
