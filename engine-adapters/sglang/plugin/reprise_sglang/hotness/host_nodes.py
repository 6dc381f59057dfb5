"""What of a prefix tree is on the host alone, hottest first."""

from collections.abc import Callable
from typing import Any

from reprise_sglang.hotness.node_order import NodeOrder


class HostNodes:
    """
    Nodes that have left the GPU, and not the host.

    They are told of as they leave the GPU; that they come back, or leave the host, is seen when they are taken.
    """

    def __init__(self, hotness_of: Callable[[Any], float], is_on_host: Callable[[Any], bool]) -> None:
        self._is_on_host = is_on_host
        self._nodes: dict[int, Any] = {}
        self._order = NodeOrder(lambda node: -hotness_of(node))

    def put(self, node: Any) -> None:
        """A node is on the host alone, or is about to be."""
        if self._order.entries > 2 * len(self._nodes) + 1024:
            self.rekey()
        self._nodes[node.id] = node
        self._order.put(node)

    def pop_hottest(self) -> Any | None:
        """Takes the hottest node, None if there is none; what stays on the host is to be put back."""
        node = self._order.pop(self._is_on_host)
        if node is not None:
            del self._nodes[node.id]
        return node

    def rekey(self) -> None:
        """The hotness of all anew. O(n log n)."""
        self._nodes = {node_id: node for node_id, node in self._nodes.items() if self._is_on_host(node)}
        self._order.rekey(self._nodes.values())
