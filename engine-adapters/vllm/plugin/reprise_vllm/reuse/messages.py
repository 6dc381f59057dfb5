"""Messages from the scheduler's side to the workers in each step, and their replies."""

import operator
from collections import Counter
from dataclasses import dataclass, field, fields

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorWorkerMetadata

from reprise_reuse.costs import Costs
from reprise_reuse.disk.messages import ReuseReport, TierOrders
from reprise_reuse.pieces import Check, Load, Move, Save


@dataclass(slots=True)
class ReuseStep(TierOrders):
    """Everything that workers do for reuse in one step.

    The order is: read moves, reset, drop files, fetch, load, write moves, save, check, write files, copy. Moves are
    written immediately if no load reads the slots they write.
    """

    moves: list[Move] = field(default_factory=list)
    copies: list[Move] = field(default_factory=list)
    """moves of rows whose pages the step leaves alone; they stay there, too"""
    loads: list[Load] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    """requests whose loads are no longer needed"""

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, one.name) for one in fields(self))


@dataclass
class WorkerReport(ReuseReport, KVConnectorWorkerMetadata):
    """What ranks report since the last step, aggregated over ranks."""

    ready: int = 0
    """ranks whose self-test has passed since"""
    costs: Costs | None = None
    """what was measured at the start; all ranks report the same"""
    missed: Counter[str] = field(default_factory=Counter)
    """rows of claims, by request, that were missing or left to vLLM; of several ranks, the most"""
    pages: dict[str, list[int]] = field(default_factory=dict)
    """figures of a step, by request; from the first rank: ranks may choose different pages, but read equally many"""

    @property
    def is_empty(self) -> bool:
        return not any(vars(self).values())

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        merged = {name: _MERGED.get(name, operator.add)(own, getattr(other, name)) for name, own in vars(self).items()}
        return WorkerReport(**merged)


_MERGED = {
    "unused_bytes": max,
    # of counters, the most
    **dict.fromkeys(("lost", "unshared", "missed", "figures"), operator.or_),
    **dict.fromkeys(("costs", "divergences", "pages"), lambda first, other: first or other),
}
"""how fields of several ranks become one; others are added up"""
