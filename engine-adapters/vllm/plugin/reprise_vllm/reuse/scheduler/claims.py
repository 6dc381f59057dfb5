"""Decides what to claim of a prompt: which rows come from segments, and how many are computed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reprise_reuse.methods import METHODS, WITHOUT_QUESTION
from reprise_reuse.segments import Found
from reprise_reuse.work import RowWork
from reprise_vllm.reuse.messages import Piece

QUESTION_TOKENS = 64
"""at most this many tokens represent the question"""
LAST_TOKENS = 32
"""this many tokens at a prompt's end are always computed: the answer depends most on them and on what they ask"""
_SHORT_TAIL = 16
"""a shorter tail that no segment holds belongs to the chat template, and the question is elsewhere"""

_READ_AT_THE_COST_OF_ONE = 32
"""rows of context that the question's attention reads in the time it takes to compute one row (4,000 tokens, CPU)"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows [begin, end) of a prompt, to be filled before vLLM computes the rest."""

    begin: int
    end: int
    found: Sequence[Found]
    """ascending and disjoint, within [begin, end)"""
    exact_end: int
    """rows before it equal those of full attention"""
    budget: int
    """how many reused rows are recomputed"""
    question: Sequence[int]
    method: str
    """how they are chosen: a name in `reprise_reuse.methods.METHODS`"""
    is_lossless: bool = True
    """whether rows come back from host memory bit for bit"""

    @property
    def approximate(self) -> int:
        """Rows taken from segments that were computed after other tokens. These may be recomputed."""
        return sum(one.match.length for one in self.found if not one.is_exact)

    @property
    def exact(self) -> int:
        """Rows taken from segments that equal those of full attention."""
        return self._after_the_same if self.is_lossless else 0

    @property
    def gaps(self) -> int:
        """Rows in [begin, end) that no segment holds."""
        return self.end - self.begin - sum(one.match.length for one in self.found)

    @property
    def reused(self) -> int:
        """Rows that only approximate full attention and are not recomputed."""
        return self.approximate - self.budget + self._after_the_same - self.exact

    @property
    def computed(self) -> int:
        """Rows that are computed, plus the cost of choosing some of them."""
        return self.gaps + self.budget + self.asking

    @property
    def asking(self) -> int:
        """The cost of choosing, in computed rows: the question's own rows, and reading the context."""
        if not METHODS[self.method].reads_question or not 0 < self.budget < self.approximate:
            return 0
        return len(self.question) + self.end // _READ_AT_THE_COST_OF_ONE

    @property
    def _after_the_same(self) -> int:
        return sum(one.match.length for one in self.found if one.is_exact)


def make_claim(
    found: Sequence[Found], begin: int, length: int, ratio: float, least: int, work: RowWork, method: str, *,
    is_lossless: bool = True,
) -> Claim | None:  # fmt: skip
    """Returns what to claim of a prompt of `length` tokens whose first `begin` are cached; None if not worth it.

    If asking the question which rows to recompute costs more than reuse saves, they are chosen without it.

    found  what segments hold of [begin, length), ascending and disjoint
    ratio  share of the cost of computing the approximate rows that may be spent on recomputing some of them
    least  the fewest reused rows worth a claim
    method  how recomputed rows are chosen: a name in `reprise_reuse.methods.METHODS`
    is_lossless  whether rows come back from host memory bit for bit; if not, none of them is exact
    """
    if not is_lossless and ratio >= 1:
        # everything must equal full attention
        found = [one._replace(is_exact=False) for one in found]
    new_tail = length - (found[-1].match.end if found else begin)
    found = _trim(found, length - LAST_TOKENS)
    if sum(one.match.length for one in found) < least:
        return None
    end = found[-1].match.end
    # rows computed after exact ones are exact too
    inexact = (one.match.start for one in found if not (is_lossless and one.is_exact))
    exact_end = next(inexact, end)
    approximate = [np.arange(one.match.start, one.match.end) for one in found if not one.is_exact]
    budget = work.affordable(np.concatenate(approximate), ratio) if approximate else 0
    question = _question(found, begin, length, new_tail)
    claim = Claim(begin, end, found, exact_end, budget, question, method, is_lossless)
    return claim if claim.reused + claim.exact >= claim.asking else replace(claim, method=WITHOUT_QUESTION)


def piece_of(found: Found) -> Piece:
    """Returns where the rows of a found run are stored."""
    match, segment, is_exact = found
    rows = slice(match.offset, match.offset + match.length)
    if segment.pages is None:
        return Piece(match.start, match.end, segment.slots[rows], segment.owner, is_exact=is_exact)
    return Piece(
        match.start, match.end, None, segment.owner, is_exact=is_exact, pages=segment.pages[rows],
        position=segment.position + match.offset,
    )  # fmt: skip


def _trim(found: Sequence[Found], limit: int) -> list[Found]:
    kept = []
    for one in found:
        length = min(one.match.end, limit) - one.match.start
        if length > 0:
            kept.append(one._replace(match=one.match._replace(length=length)))
    return kept


def _question(found: Sequence[Found], begin: int, length: int, new_tail: int) -> list[int]:
    """Returns the positions of the question's tokens: those after the last segment. If few are new, adds earlier ones.

    If a chat's question comes first, it is among the tokens that no segment holds.
    """
    end = found[-1].match.end
    tail = list(range(max(end, length - QUESTION_TOKENS), length))
    if new_tail >= _SHORT_TAIL:
        return tail
    new = []
    at = begin
    for one in found:
        new.extend(range(at, one.match.start))
        at = one.match.end
    room = QUESTION_TOKENS - len(tail)
    return [*(new[-room:] if room else ()), *tail]
