"""What the scheduler's side tells the workers each step, and what they answer."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata, KVConnectorWorkerMetadata

from reprise_vllm.select_pages.told import PageReport


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows [start, end) of a request, and where they are stored: in host memory or in the engine's own pages."""

    start: int
    end: int
    slots: np.ndarray | None
    """of host memory, int64 [end - start]"""
    owner: int
    """the segment's name: slots that meanwhile belong to another one are not used"""
    is_exact: bool = False
    """of a load: the rows are what full attention gives here"""
    is_average: bool = False
    """of a save: the rows are one context more of what the slots hold"""
    pages: np.ndarray | None = None
    """slots of the engine's cache in place of host memory's, int64 [end - start]"""
    position: int = 0
    """of a load from pages: where its first row was computed"""


@dataclass(frozen=True, slots=True)
class Load:
    """Rows [begin, end) of a request are filled: from pieces, the rest by computing."""

    request_id: str
    tokens: np.ndarray
    """int32 [n]: the whole prompt"""
    blocks: Sequence[int]
    begin: int
    end: int
    pieces: Sequence[Piece]
    """ascending, disjoint, within [begin, end)"""
    question: Sequence[int]
    """positions of the tokens by whose attention rows are chosen, ascending"""
    budget: int
    """how many rows of the pieces that are not exact are computed again"""
    method: str
    is_asynchronous: bool
    asking: int = 0
    """what it costs to choose rows, in computed ones"""


@dataclass(frozen=True, slots=True)
class Save:
    """Rows of a request, computed when this step's forward is done, go to host memory or are known in their pages."""

    tokens: np.ndarray
    blocks: Sequence[int]
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Move:
    """A segment's rows go from pages that are about to be written to host memory."""

    tokens: np.ndarray
    """int32 [n]"""
    pages: np.ndarray
    slots: np.ndarray
    position: int
    owner: int


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A segment's rows in host memory and the file that holds or shall hold them."""

    name: int
    slots: np.ndarray
    namespace: bytes
    position: int
    prefixes: tuple[bytes, ...]
    is_exact: bool
    owner: int
    """under which its slots are to be known"""
    tokens_digest: bytes
    """`digest_of` the tokens whose rows they are"""


def digest_of(tokens: np.ndarray) -> bytes:
    """Names tokens (int32 [n]), and how many they are."""
    return hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()


@dataclass(slots=True)
class ReuseStep:
    """All that workers do for reuse in one step.

    In this order: moves are read; a reset, dropped files, fetches, loads, moves are written, saves, writes. Moves are
    written at once where no load reads what they write.
    """

    moves: list[Move] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    fetches: list[DiskFile] = field(default_factory=list)
    writes: list[DiskFile] = field(default_factory=list)
    dropped_files: list[int] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    """requests whose loads nobody waits for any more"""
    is_reset: bool = False
    """whether all that is stored has been forgotten since the last step: the model may have got other weights"""

    @property
    def is_empty(self) -> bool:
        told = (self.moves, self.loads, self.saves, self.fetches, self.writes, self.dropped_files, self.aborted)
        return not any(told) and not self.is_reset


class RepriseMetadata(KVConnectorMetadata):
    """What a step tells the workers; most steps tell nothing."""

    def __init__(self, reuse: ReuseStep | None = None) -> None:
        self.reuse = reuse


@dataclass
class WorkerReport(KVConnectorWorkerMetadata):
    """What ranks have to say since the last step; added up over ranks."""

    ready: int = 0
    """ranks whose self-test has passed since"""
    refusals: list[str] = field(default_factory=list)
    """why ranks do not reuse, or no longer"""
    fetched: Counter[int] = field(default_factory=Counter)
    """how many ranks have each of these segments in host memory again"""
    written: Counter[int] = field(default_factory=Counter)
    """how many ranks have each of these segments on disk"""
    restored: list[tuple[DiskFile, np.ndarray]] = field(default_factory=list)
    """segments and their tokens that an earlier life of the engine left on a rank's disk"""
    lost: set[int] = field(default_factory=set)
    """segments whose rows some rank does not have"""
    pages: PageReport | None = None
    """of the first rank that told: ranks may choose other pages, and read as many"""

    @property
    def is_empty(self) -> bool:
        return not any((self.ready, self.refusals, self.fetched, self.written, self.restored, self.lost, self.pages))

    def restored_on_all(self, ranks: int) -> list[tuple[DiskFile, np.ndarray]]:
        """Segments that every rank has restored."""
        told = Counter(file.name for file, _ in self.restored)
        unique = {file.name: (file, tokens) for file, tokens in self.restored}
        return [unique[name] for name, count in told.items() if count == ranks]

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        assert isinstance(other, WorkerReport)
        return WorkerReport(
            self.ready + other.ready,
            self.refusals + other.refusals,
            self.fetched + other.fetched,
            self.written + other.written,
            self.restored + other.restored,
            self.lost | other.lost,
            self.pages or other.pages,
        )
