"""SGLang's full-attention component, with victims chosen by heat (HotPrefix, Algorithm 1)."""

from typing import Any

from sglang.srt.mem_cache.unified_cache.components.full import FullComponent

from reprise_hotness.heat_order import HeatOrder
from reprise_hotness.tracker import Heat, HotnessTracker
from reprise_sglang.hotness.leaves import EvictableLeaves


class HotFullComponent(FullComponent):
    """Chooses which leaf leaves the GPU and which leaves the host. SGLang still carries out the eviction."""

    def __init__(self, cache: Any, params: Any) -> None:
        super().__init__(cache, params)
        self.tracker = HotnessTracker()
        self.host: HeatOrder | None = None
        """nodes that are only on the host, hottest first, to be promoted; None if promotion is off"""
        self._heats: dict[int, Heat] = {}
        """by node id"""
        self._popped: list[Any] = []
        self._has_ended = False
        # orders the host's leaves; SGLang calls it when it evicts there
        self.session_ref_eviction_strategy = self._host_key

    def configure(self, tracker: HotnessTracker, *, promotes: bool) -> None:
        """Call before the first request."""
        self.tracker = tracker
        self.host = HeatOrder(lambda node: -self.hotness_of(node), self._is_on_host_alone) if promotes else None

    def end(self) -> None:
        """What is asked for is not counted any more: nodes go by when they were used last."""
        self._has_ended = True
        self._heats.clear()
        self.leaves.rekey()

    def heat_of(self, node: Any) -> Heat:
        """Returns a node's heat; zero heat if no request has used it yet."""
        return self._heats.get(node.id) or Heat()

    def priority_of(self, node: Any) -> float:
        """The node with the lowest priority is evicted first."""
        if self._has_ended:
            return node.last_access_time
        return self.tracker.priority(self.heat_of(node), len(node.key))

    def hotness_of(self, node: Any) -> float:
        """The node with the highest hotness is promoted first."""
        return self.tracker.hotness(self.heat_of(node), len(node.key))

    @property
    def leaves(self) -> EvictableLeaves:
        """SGLang's own set, wrapped to keep its order; a tree that was reset has a new set."""
        leaves = self.tree_core.evictable_device_leaves
        if not isinstance(leaves, EvictableLeaves):
            leaves = EvictableLeaves(leaves, self.priority_of, self.hotness_of if self.host else None)
            self.tree_core.evictable_device_leaves = leaves
        return leaves

    def use(self, node: Any, prefix: bytes) -> None:
        """A request used the prefix that ends with this node."""
        self._heats[node.id] = self.tracker.use(prefix, self._heats.get(node.id))

    def pass_request(self) -> None:
        """A request has been served."""
        if self.tracker.pass_request():
            known = self.tree_core._node_arena
            if len(self._heats) > 2 * len(known) + 1024:
                self._heats = {node_id: heat for node_id, heat in self._heats.items() if node_id in known}
            self.leaves.rekey()
            if self.host:
                self.host.rekey()

    def redistribute_on_node_split(self, new_parent: Any, child: Any) -> None:
        super().redistribute_on_node_split(new_parent, child)
        # it is shorter now
        self.leaves.put_back(child)
        heat = self._heats.get(child.id)
        if heat is not None:
            # what was known about the whole node applies to its front part
            self._heats[new_parent.id] = Heat(heat.frequency, heat.age)
        if self.host and self._is_on_host_alone(child):
            self.host.put(new_parent)
            self.host.put(child)

    def evict_component(self, node: Any, *arguments: Any, **named: Any) -> tuple[int, int]:
        result = super().evict_component(node, *arguments, **named)
        if self.host and node.backuped:
            self.host.put(node)
        return result

    def _evict_device_start(self, request_cnt: int) -> None:
        self._evict_device_request_cnt = request_cnt
        self._popped = []

    def _evict_device_next_node(self, tracker: Any, *_: Any, **__: Any) -> int | None:
        if tracker[self.component_type] >= self._evict_device_request_cnt:
            return None
        leaf = self.leaves.pop_first()
        if leaf is None:
            return None
        self._popped.append(leaf)
        return leaf.id

    def _evict_device_end(self) -> None:
        for leaf in self._popped:
            self.leaves.put_back(leaf)
        self._popped = []

    def _host_key(self, node: Any) -> tuple[float, float, int]:
        return self.hotness_of(node), node.last_access_time, node.id

    def _is_on_host_alone(self, node: Any) -> bool:
        return node.evicted and node.backuped and self.tree_core._node_arena.get(node.id) is node
