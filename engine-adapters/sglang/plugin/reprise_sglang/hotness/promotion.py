"""Which nodes of the host replace which leaves of the GPU (HotPrefix, Algorithm 2)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from reprise_hotness.heat_order import HeatOrder
from reprise_sglang.hotness.leaves import EvictableLeaves

_MOST_PASSED = 16
"""host nodes that may fail to qualify before a plan ends"""


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
    host: HeatOrder, device: EvictableLeaves, hotness_of: Callable[[Any], float], limits: Limits
) -> list[Promotion]:
    """
    Returns what to promote, hottest first.

    A node qualifies only if its parent is on the GPU and stays there. All evicted leaves are colder than the node that
    they make room for, and none is evicted without one.
    """
    plan: list[Promotion] = []
    budget, free = limits.most, limits.free
    passed: list[Any] = []
    spared: list[Any] = []
    parents: set[int] = set()
    gone: set[int] = set()
    while len(passed) < _MOST_PASSED and budget >= limits.least and (node := host.pop()) is not None:
        tokens, parent = len(node.key), node.parent
        is_in_reach = not parent.evicted and parent.id not in gone and node.load_back_pending_id is None
        leaves = None
        if is_in_reach and limits.least <= tokens <= budget:
            own = hotness_of(node)
            leaves = _take_colder(
                device, tokens - free, lambda leaf, own=own: hotness_of(leaf) < own, parents | {parent.id}, spared
            )  # fmt: skip
        if leaves is None:
            passed.append(node)
            continue
        plan.append(Promotion(node, tuple(leaves)))
        parents.add(parent.id)
        gone.update(leaf.id for leaf in leaves)
        budget -= tokens
        free += sum(len(leaf.key) for leaf in leaves) - tokens
    for node in passed:
        host.put(node)
    for leaf in spared:
        device.put_back(leaf)
    return plan


def _take_colder(
    device: EvictableLeaves, needed: int, is_colder: Callable[[Any], bool], kept: set[int], spared: list[Any]
) -> list[Any] | None:
    """Returns leaves that make room for `needed` tokens; takes none, and returns None, if there are not enough.

    kept  the ids of leaves that stay, which go to `spared`
    """
    leaves: list[Any] = []
    while needed > 0 and (leaf := device.pop_coldest()) is not None:
        if not is_colder(leaf):
            device.put_back(leaf)
            break
        if leaf.id in kept:
            spared.append(leaf)
            continue
        leaves.append(leaf)
        needed -= len(leaf.key)
    if needed <= 0:
        return leaves
    for leaf in leaves:
        device.put_back(leaf)
    return None
