"""Cuts new tokens into segments."""

from collections.abc import Collection, Iterator

SHORTEST = 64
LONGEST = 512


def cut(
    tokens: list[int],
    begin: int,
    end: int,
    line_ends: Collection[int] = frozenset(),
    borders: Collection[int] = frozenset(),
) -> Iterator[tuple[int, int]]:
    """Cuts `tokens[begin:end]` into segments of `SHORTEST` to `LONGEST` tokens; the last may be shorter.

    A segment ends after a token in `line_ends`, from its `SHORTEST`-th token on, at any position in `borders` (where
    documents are known to begin or end), or at `LONGEST` tokens. Matching does not depend on the cuts: they only decide
    what is averaged, kept and evicted as a unit.
    """
    start = begin
    for position in range(begin + 1, end + 1):
        length = position - start
        is_cut = position in borders or (length >= SHORTEST and tokens[position - 1] in line_ends) or length >= LONGEST
        if is_cut or position == end:
            yield start, position
            start = position
