"""Finds stored segments in a prompt by their tokens."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from reprise_reuse.segments.winnow import GUARANTEED_RUN, Anchors, anchors

MIN_MATCH = GUARANTEED_RUN + 1
"""tokens; a shorter run is not reused by itself, because its KV depends most on what came before it"""
MIN_JOINED = 2
"""tokens of a run that is reused next to another, at the end of one segment and the start of the next"""
MIN_STORED = 8
"""tokens of a segment"""
_MOST_PLACES = 8
_End = tuple[bool, bytes]
"""whether tokens are the first or the last ones of a segment, and the tokens"""


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
    Which stored segments a prompt repeats, whatever precedes them and wherever they were cut (FusionRAG §4.1).

    FusionRAG's Alternative Path skips leading chunks until it finds a shorter path. This index finds every run of
    `MIN_MATCH` tokens that a segment shares with a prompt, without knowing where chunks begin.
    """

    def __init__(self) -> None:
        self._tokens: dict[int, np.ndarray] = {}
        # (segment, offset) by gram, and by the first and the last tokens of a segment; dictionaries for constant-time
        # removal, in insertion order
        self._places: dict[int | _End, dict[tuple[int, int], None]] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def add(self, segment: int, tokens: np.ndarray, known: Anchors | None = None) -> None:
        """Adds `tokens` (int32 [n]) under the name `segment`; known: their anchors, if the caller has them."""
        self._tokens[segment] = tokens
        for offset, key in _keys_of(tokens, known):
            self._places.setdefault(key, {})[segment, offset] = None

    def remove(self, segment: int) -> None:
        """Forgets a segment."""
        for offset, key in _keys_of(self._tokens.pop(segment)):
            places = self._places[key]
            del places[segment, offset]
            if not places:
                del self._places[key]

    def find(self, tokens: np.ndarray, begin: int = 0) -> list[Match]:
        """Returns the runs of `tokens[begin:]` that segments hold: ascending, disjoint, at least `MIN_MATCH` long.

        Next to these, and at the start of a prompt, runs may be as short as `MIN_JOINED`: segments are cut at lines, so
        a text continues in the next segment, if only for a few tokens.
        """
        matches: list[Match] = []
        for match in self._anchored(tokens, begin):
            matches += self._going_on(tokens, matches, begin, match.start)
            matches += self._leading_up(tokens, matches[-1].end if matches else begin, match)
            matches.append(match)
        return matches + (self._going_on(tokens, matches, begin, len(tokens)) if matches else [])

    def _anchored(self, tokens: np.ndarray, begin: int) -> Iterable[Match]:
        covered = begin
        for position, gram in _listed(tokens[begin:]):
            anchor = begin + position
            if anchor < covered:
                continue
            match = self._longest(tokens, covered, anchor, len(tokens), gram)
            if match is not None and match.length >= MIN_MATCH:
                yield match
                covered = match.end

    def _going_on(self, tokens: np.ndarray, matches: Sequence[Match], begin: int, end: int) -> list[Match]:
        """If the last match reaches the end of its segment, continues it with segments that hold `tokens[:end]`."""
        joined: list[Match] = []
        last = matches[-1] if matches else None
        at = last.end if last is not None else begin
        # the start of a prompt may continue nothing: it matches how other prompts begin
        while self._is_whole(last) if last is not None else at == 0:
            longest = self._longest(tokens, at, at, end, _end(tokens[at:end], is_head=True))
            if longest is None:
                break
            last, at = longest, longest.end
            joined.append(longest)
        return joined

    def _is_whole(self, match: Match) -> bool:
        """Whether a match reaches the end of its segment."""
        return match.offset + match.length == len(self._tokens[match.segment])

    def _leading_up(self, tokens: np.ndarray, begin: int, match: Match) -> list[Match]:
        """Extends a match at the start of its segment backwards with segments that hold `tokens[begin:]`."""
        joined: list[Match] = []
        while match.offset == 0:
            at = match.start
            longest = self._longest(tokens, begin, at, at, _end(tokens[begin:at], is_head=False))
            if longest is None:
                break
            match = longest
            joined.append(match)
        return joined[::-1]

    def _longest(self, tokens: np.ndarray, begin: int, at: int, end: int, key: int | _End | None) -> Match | None:
        """Returns the longest match through `at`, within [begin, end), of the segments that this key leads to."""
        best: Match | None = None
        # a gram of boilerplate is in every document: a few of its places are as good as all
        for segment, offset in islice(self._places.get(key, ()), _MOST_PLACES):
            stored = self._tokens[segment]
            ahead = _common_prefix(tokens[at:end], stored[offset:])
            behind = _common_prefix(tokens[begin:at][::-1], stored[:offset][::-1])
            if best is None or ahead + behind > best.length:
                best = Match(at - behind, ahead + behind, segment, offset - behind)
        return best


def _end(tokens: np.ndarray, *, is_head: bool) -> _End | None:
    """Returns the key of the `MIN_JOINED` tokens at one end; None if there are fewer."""
    end = slice(MIN_JOINED) if is_head else slice(-MIN_JOINED, None)
    return (is_head, tokens[end].tobytes()) if len(tokens) >= MIN_JOINED else None


def _keys_of(tokens: np.ndarray, known: Anchors | None = None) -> Iterator[tuple[int, int | _End]]:
    """Yields where a segment can be found: offsets and grams, and both ends."""
    yield from _listed(tokens, known)
    for is_head in (True, False):
        if (end := _end(tokens, is_head=is_head)) is not None:
            yield 0 if is_head else len(tokens), end


def _listed(tokens: np.ndarray, known: Anchors | None = None) -> Iterable[tuple[int, int]]:
    positions, grams = anchors(tokens) if known is None else known
    return zip(positions.tolist(), grams.tolist(), strict=True)


def _common_prefix(a: np.ndarray, b: np.ndarray) -> int:
    length = min(len(a), len(b))
    differs = a[:length] != b[:length]
    first = int(differs.argmax()) if length else 0
    return first if length and differs[first] else length
