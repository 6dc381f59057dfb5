"""Which nodes of the host replace which leaves of the GPU (HotPrefix, Algorithm 2)."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

_MOST_PASSED = 16
"""host nodes that may fail to qualify before a plan ends"""


class HottestFirst(Protocol):
    """The nodes of the host."""

    def pop_hottest(self) -> Any | None: ...

    def put(self, node: Any) -> None: ...


class ColdestFirst(Protocol):
    """The leaves of the GPU."""

    def pop_coldest(self) -> Any | None: ...

    def put_back(self, leaf: Any) -> None: ...


class Promotion(NamedTuple):
    """A node to copy to the GPU once these leaves are evicted."""

    node: Any
    leaves: tuple[Any, ...]


class Limits(NamedTuple):
    """The limits of a plan, in tokens."""

    most: int
    """of all promoted nodes together"""
    least: int
    """of one node: a shorter one is not worth a copy"""
    free: int
    """room on the GPU without evicting anything"""


def plan_promotions(
    host: HottestFirst, device: ColdestFirst, hotness_of: Callable[[Any], float], limits: Limits
) -> list[Promotion]:
    """
    Returns what to promote, hottest first.

    A node qualifies only if its parent is on the GPU and stays there. All evicted leaves are colder than the node that
    they make room for, and none is evicted without one.
    """
    plan = _Plan(host, device, hotness_of, limits)
    while plan.passed < _MOST_PASSED and plan.budget >= limits.least and (node := host.pop_hottest()) is not None:
        plan.consider(node)
    plan.put_back()
    return plan.promotions


class _Plan:
    def __init__(
        self, host: HottestFirst, device: ColdestFirst, hotness_of: Callable[[Any], float], limits: Limits
    ) -> None:
        self.promotions: list[Promotion] = []
        self.budget = limits.most
        self._host, self._device, self._hotness_of = host, device, hotness_of
        self._least, self._free = limits.least, limits.free
        self._passed: list[Any] = []
        self._spared: list[Any] = []
        """parents of promoted nodes"""
        self._parents: set[int] = set()
        self._gone: set[int] = set()

    @property
    def passed(self) -> int:
        return len(self._passed)

    def consider(self, node: Any) -> None:
        tokens, parent = len(node.key), node.parent
        is_in_reach = not parent.evicted and parent.id not in self._gone and node.load_back_pending_id is None
        leaves = None
        if is_in_reach and self._least <= tokens <= self.budget:
            leaves = self._make_room(node, tokens)
        if leaves is None:
            self._passed.append(node)
            return
        self.promotions.append(Promotion(node, tuple(leaves)))
        self._parents.add(parent.id)
        self._gone.update(leaf.id for leaf in leaves)
        self.budget -= tokens

    def put_back(self) -> None:
        for node in self._passed:
            self._host.put(node)
        for leaf in self._spared:
            self._device.put_back(leaf)

    def _make_room(self, node: Any, tokens: int) -> list[Any] | None:
        """Returns enough leaves colder than a node; takes none and returns None if there are not enough."""
        own = self._hotness_of(node)
        leaves: list[Any] = []
        free = self._free
        while free < tokens and (leaf := self._device.pop_coldest()) is not None:
            if self._hotness_of(leaf) >= own:
                self._device.put_back(leaf)
                break
            if leaf.id in self._parents or leaf is node.parent:
                self._spared.append(leaf)
                continue
            leaves.append(leaf)
            free += len(leaf.key)
        if free < tokens:
            for leaf in leaves:
                self._device.put_back(leaf)
            return None
        self._free = free - tokens
        return leaves
