"""A stored run of tokens, where its rows are, and the contexts it was computed in."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reprise_reuse.segments.segment_index import Match


@dataclass(slots=True, eq=False)
class Segment:
    """A run of tokens whose keys and values are stored once."""

    name: int
    namespace: bytes
    """who may use it: a digest of the cache salt and the adapter"""
    tokens: np.ndarray
    """int32 [n]"""
    slots: np.ndarray | None
    """where its rows are in host memory, int64 [n]; None: not there"""
    position: int
    """of its first token when it was first computed; its keys are rotated for this position"""
    prefixes: list[bytes]
    """digests of everything before it, one per context it was computed in; its rows are the mean over these contexts"""
    users: list[bytes]
    """who had its contexts computed, one for each: what stood before it may have been written to mislead others"""
    is_exact: bool
    """whether its rows equal full attention after the first of these prefixes"""
    owner: int = -1
    """the name its rows were stored under: that of the segment it was cut from"""
    is_on_disk: bool = False
    audience: bytes | None = None
    """who finds it in the shared store; None: it is not known to be there"""
    is_fetching: bool = False
    """its rows are being read from disk, or from the shared store, into its slots"""
    pins: int = 0
    """requests that need its rows to stay where they are"""
    pages: np.ndarray | None = None
    """where its rows are in the engine's own pages, as slots of its cache, int64 [n]; None: not there"""

    @property
    def is_at_hand(self) -> bool:
        """Whether its rows can be used immediately."""
        return self.pages is not None or (self.slots is not None and not self.is_fetching)

    def is_as_computed(self, match: Match, tokens: np.ndarray, digests: Mapping[int, bytes]) -> bool:
        """Whether a match in `tokens` (int32 [n]) is where the segment was computed, after the very same tokens.

        digests  of `tokens[:p]`, by p
        """
        return (
            self.is_exact
            and len(self.prefixes) == 1
            and match.start - match.offset == self.position
            and digests.get(self.position) == self.prefixes[0]
            and np.array_equal(tokens[self.position : match.start], self.tokens[: match.offset])
        )

    def __len__(self) -> int:
        return len(self.tokens)


class Found(NamedTuple):
    """A run of a prompt that a segment holds."""

    match: Match
    segment: Segment
    is_exact: bool
    """the run is where the segment was computed, after the very same tokens"""


def prefix_digests(tokens: np.ndarray, positions: Iterable[int]) -> dict[int, bytes]:
    """Returns digests of `tokens[:p]` for each p in `positions` that lies within `tokens` (int32 [n])."""
    digests: dict[int, bytes] = {}
    state, done = hashlib.blake2b(digest_size=16), 0
    for position in sorted(set(positions)):
        if position > len(tokens):
            break
        state.update(tokens[done:position].tobytes())
        done = position
        digests[position] = state.copy().digest()
    return digests


def gaps(found: Sequence[Found], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the runs of [begin, end) that no segment holds; `found` is ascending, disjoint and within them."""
    at = begin
    for one in found:
        if one.match.start > at:
            yield at, one.match.start
        at = one.match.end
    if at < end:
        yield at, end
