"""What is to be done with segments on disk and in a shared store, and what became of it."""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A segment's rows in host memory, and the file that holds or will hold them."""

    name: int
    slots: np.ndarray
    namespace: bytes
    position: int
    prefixes: tuple[bytes, ...]
    users: tuple[bytes, ...]
    is_exact: bool
    owner: int
    """the owner to record for its slots"""
    tokens_digest: bytes
    """`digest_of` the segment's tokens"""


def digest_of(tokens: np.ndarray) -> bytes:
    """Returns a digest of tokens (int32 [n]) and their number."""
    return hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class RemoteFile(DiskFile):
    """A segment's rows in host memory, and the value of a shared store that holds or will hold them."""

    audience: bytes
    """who may find it: see `prompts.users.audience_of`"""
    seconds: float = 0.0
    """for a read: it is of use only if it takes no longer"""
    silence: float = math.inf
    """for a read: how long the store may answer nothing meanwhile"""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a request would like to find in a shared store."""

    request: str
    namespace: bytes
    audiences: tuple[bytes, ...]
    """to which it belongs"""
    grams: np.ndarray
    """anchors of the text that no segment here holds, uint64 [n]"""
    seconds: float
    """the request waits no longer for it"""
    silence: float
    """how long the store may answer nothing meanwhile"""


@dataclass(slots=True)
class TierOrders:
    """What to do with files or values, in this order: reset, drop, fetch, look up; after the step's forward, write."""

    fetches: list[DiskFile] = field(default_factory=list)
    writes: list[DiskFile] = field(default_factory=list)
    dropped_files: list[int] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    """in a shared store"""
    is_reset: bool = False
    """whether everything stored was forgotten since the last step: the model may have got other weights"""
    remote: "TierOrders | None" = None
    """what to do in a shared store, in the same order"""


@dataclass
class ReuseReport:
    """What became of it, and of loads; of several ranks, added up."""

    fetched: Counter[int] = field(default_factory=Counter)
    """how many ranks have finished fetching each of these segments from disk, successfully or not"""
    written: Counter[int] = field(default_factory=Counter)
    """how many ranks have written each of these segments to disk"""
    restored: list[tuple[DiskFile, np.ndarray]] = field(default_factory=list)
    """segments, with their tokens, that an earlier run of the engine left on a rank's disk"""
    refused: int = 0
    """files on ranks' disks that could not be used"""
    unwritten: int = 0
    """segments that ranks did not write: the disk failed or did not keep up"""
    unused_bytes: int = 0
    """size of the files that a rank left alone at its start; of several ranks, the largest"""
    lost: set[int] = field(default_factory=set)
    """segments whose rows are missing on some rank"""
    found: list[tuple[str, list[tuple[bytes, DiskFile, np.ndarray]] | None]] = field(default_factory=list)
    """by request, what lookups have found in a shared store: each segment's audience, the segment, its tokens;
    None if it has not answered"""
    unshared: set[int] = field(default_factory=set)
    """segments that some rank has not written to a shared store: it failed or did not keep up"""
    figures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """what was done and what it took, by (what, kind)"""
    faults: Counter[str] = field(default_factory=Counter)
    """faults that were contained, by what failed"""
    refusals: list[str] = field(default_factory=list)
    """why nothing is reused any more"""
    divergences: list[float] = field(default_factory=list)
    """of checked answers from full attention's"""
