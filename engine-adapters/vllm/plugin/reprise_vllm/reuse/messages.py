"""Messages from the scheduler's side to the workers in each step, and their replies."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorHandshakeMetadata,
    KVConnectorMetadata,
    KVConnectorWorkerMetadata,
)

from reprise_vllm.usage.figures import PageReport

if TYPE_CHECKING:
    import numpy as np

    from reprise_reuse.costs import Costs
    from reprise_reuse.disk.messages import DiskFile
    from reprise_reuse.pieces import Check, Load, Move, Save
    from reprise_reuse.remote.messages import RemoteOrders


@dataclass(slots=True)
class ReuseStep:
    """Everything that workers do for reuse in one step; of files, what `reprise_reuse.disk.messages.DiskOrders` says.

    The order is: read moves, reset, drop files, fetch, load, write moves, save, check, write files, copy. Moves are
    written immediately if no load reads the slots they write.
    """

    moves: "list[Move]" = field(default_factory=list)
    copies: "list[Move]" = field(default_factory=list)
    """moves of rows whose pages the step leaves alone; they stay there, too"""
    loads: "list[Load]" = field(default_factory=list)
    saves: "list[Save]" = field(default_factory=list)
    checks: "list[Check]" = field(default_factory=list)
    fetches: "list[DiskFile]" = field(default_factory=list)
    writes: "list[DiskFile]" = field(default_factory=list)
    dropped_files: list[int] = field(default_factory=list)
    remote: "RemoteOrders | None" = None
    """the same for a shared store, in the same order"""
    aborted: list[str] = field(default_factory=list)
    """requests whose loads are no longer needed"""
    is_reset: bool = False
    """whether everything stored was forgotten since the last step: the model may have got other weights"""

    @property
    def is_empty(self) -> bool:
        of_disk = (self.fetches, self.writes, self.dropped_files, self.remote)
        of_rows = (self.moves, self.copies, self.loads, self.saves, self.checks)
        return not any((*of_rows, *of_disk, self.aborted, self.is_reset))


class RepriseMetadata(KVConnectorMetadata):
    """A step's message to the workers. In most steps it is empty."""

    def __init__(self, reuse: ReuseStep | None = None) -> None:
        self.reuse = reuse


@dataclass
class WorkerReport(KVConnectorWorkerMetadata):
    """What ranks report since the last step, aggregated over ranks; of files, as `DiskReport` does."""

    ready: int = 0
    """ranks whose self-test has passed since"""
    costs: "Costs | None" = None
    """what was measured at the start; all ranks report the same"""
    refusals: list[str] = field(default_factory=list)
    """why ranks do not reuse, or stopped reusing"""
    fetched: Counter[int] = field(default_factory=Counter)
    """how many ranks have finished fetching each of these segments from disk, successfully or not"""
    written: Counter[int] = field(default_factory=Counter)
    """how many ranks have written each of these segments to disk"""
    restored: "list[tuple[DiskFile, np.ndarray]]" = field(default_factory=list)
    """segments, with their tokens, that an earlier run of the engine left on a rank's disk"""
    refused: int = 0
    """files on ranks' disks that could not be used"""
    unwritten: int = 0
    """segments that ranks did not write: the disk failed or did not keep up"""
    unused_bytes: int = 0
    """size of the files that a rank left alone at its start; of several ranks, the largest"""
    lost: set[int] = field(default_factory=set)
    """segments whose rows are missing on some rank"""
    found: "list[tuple[str, list[tuple[bytes, DiskFile, np.ndarray]] | None]]" = field(default_factory=list)
    """by request, what lookups have found in a shared store; None if it has not answered"""
    unshared: set[int] = field(default_factory=set)
    """segments that some rank has not written to a shared store"""
    missed: Counter[str] = field(default_factory=Counter)
    """rows of claims, by request, that were missing or left to vLLM; of several ranks, the most"""
    faults: Counter[str] = field(default_factory=Counter)
    """faults that were contained, by what failed"""
    figures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """what loads, checks and a store took, by (what, kind) as in `usage.engine_metrics`; of several ranks, the most"""
    divergences: list[float] = field(default_factory=list)
    """of checked answers; from the first rank that reported any"""
    pages: PageReport | None = None
    """from the first rank that reported: ranks may choose different pages, but read equally many"""

    @property
    def is_empty(self) -> bool:
        of_files = (self.fetched, self.written, self.restored, self.refused, self.unwritten, self.found)
        of_loads = (self.unshared, self.lost, self.missed, self.faults, self.figures, self.divergences)
        return not any((self.ready, self.refusals, *of_files, *of_loads, self.pages))

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        assert isinstance(other, WorkerReport)
        return WorkerReport(
            self.ready + other.ready,
            self.costs or other.costs,
            self.refusals + other.refusals,
            self.fetched + other.fetched,
            self.written + other.written,
            self.restored + other.restored,
            self.refused + other.refused,
            self.unwritten + other.unwritten,
            max(self.unused_bytes, other.unused_bytes),
            self.lost | other.lost,
            self.found + other.found,
            self.unshared | other.unshared,
            self.missed | other.missed,
            self.faults + other.faults,
            self.figures | other.figures,
            self.divergences or other.divergences,
            self.pages or other.pages,
        )


@dataclass
class StartReport(KVConnectorHandshakeMetadata):
    """A rank's first report, which vLLM hands over at the start, before any request."""

    report: WorkerReport
