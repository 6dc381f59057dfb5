"""Cuts new tokens into segments."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHORTEST = 64
LONGEST = 512
_LINE_END = ("\n", "\u010a", "<0x0A>")


def cut(begin: int, end: int, lines: Sequence[int] = (), borders: Sequence[int] = ()) -> Iterator[tuple[int, int]]:
    """Cuts positions [begin, end) of a prompt into segments of `SHORTEST` to `LONGEST` tokens; the last may be shorter.

    A segment ends at a position in `lines` (where lines begin) if it has `SHORTEST` tokens by then, at any in `borders`
    (where documents are known to begin or end), or at `LONGEST` tokens. Matching does not depend on the cuts: they only
    decide what is averaged, kept and evicted as a unit.

    lines, borders  ascending
    """
    start = begin
    while start < end:
        stop = min(start + LONGEST, end)
        for ends, at in ((lines, bisect_left(lines, start + SHORTEST)), (borders, bisect_right(borders, start))):
            if at < len(ends):
                stop = min(stop, ends[at])
        yield start, stop
        start = stop


def line_ends(tokenizer: Any) -> frozenset[int]:
    """Returns the tokens that end with a line break; none without a tokeniser."""
    vocabulary: Mapping[str, int] = tokenizer.get_vocab() if tokenizer is not None else {}
    return frozenset(token for text, token in vocabulary.items() if text.endswith(_LINE_END))
