"""Finds stored segments in a prompt by the tokens themselves."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from reprise_reuse.segments.winnow import GRAM, GUARANTEED_RUN, anchors

MIN_MATCH = GUARANTEED_RUN + 1
"""tokens: shorter runs are not reused, their KV depends most on what stood before"""
_MOST_PLACES = 8


class Match(NamedTuple):
    """`tokens[start : start + length]` of a prompt are `length` tokens of a segment from `offset` on."""

    start: int
    length: int
    segment: int
    offset: int

    @property
    def end(self) -> int:
        return self.start + self.length


class SegmentIndex:
    """
    Which stored segments a prompt repeats, whatever stands before them and wherever they are cut (FusionRAG §4.1).

    FusionRAG's Alternative Path skips leading chunks until a shorter path is found; here every run of `MIN_MATCH`
    tokens that a segment shares with a prompt is found, without knowing where chunks begin.
    """

    def __init__(self) -> None:
        self._tokens: dict[int, np.ndarray] = {}
        # by gram, in the order they were added; a dictionary for its constant removal
        self._places: dict[int, dict[tuple[int, int], None]] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def add(self, segment: int, tokens: np.ndarray) -> None:
        """Makes `tokens` (int32 [n]) known under the name `segment`."""
        self._tokens[segment] = tokens
        for offset, gram in _listed(tokens):
            self._places.setdefault(gram, {})[segment, offset] = None

    def remove(self, segment: int) -> None:
        """Forgets a segment."""
        tokens = self._tokens.pop(segment)
        for offset, gram in _listed(tokens):
            places = self._places[gram]
            del places[segment, offset]
            if not places:
                del self._places[gram]

    def find(self, tokens: np.ndarray, begin: int = 0) -> list[Match]:
        """Returns the runs of `tokens[begin:]` that segments hold: ascending, disjoint, at least `MIN_MATCH` long."""
        matches: list[Match] = []
        covered = begin
        for position, gram in _listed(tokens[begin:]):
            anchor = begin + position
            if anchor < covered:
                continue
            # a gram of boilerplate stands in every document: some of its places are as good as all
            match = self._longest(tokens, anchor, covered, islice(self._places.get(gram, ()), _MOST_PLACES))
            if match is not None:
                matches.append(match)
                covered = match.end
        return matches

    def _longest(
        self, tokens: np.ndarray, anchor: int, covered: int, places: Iterable[tuple[int, int]]
    ) -> Match | None:
        best: Match | None = None
        for segment, offset in places:
            stored = self._tokens[segment]
            ahead = _common_prefix(tokens[anchor:], stored[offset:])
            if ahead < GRAM:
                continue
            behind = _common_prefix(tokens[covered:anchor][::-1], stored[:offset][::-1])
            if ahead + behind >= MIN_MATCH and (best is None or ahead + behind > best.length):
                best = Match(anchor - behind, ahead + behind, segment, offset - behind)
        return best


def _listed(tokens: np.ndarray) -> Iterable[tuple[int, int]]:
    positions, grams = anchors(tokens)
    return zip(positions.tolist(), grams.tolist(), strict=True)


def _common_prefix(a: np.ndarray, b: np.ndarray) -> int:
    length = min(len(a), len(b))
    differs = a[:length] != b[:length]
    first = int(differs.argmax()) if length else 0
    return first if length and differs[first] else length
