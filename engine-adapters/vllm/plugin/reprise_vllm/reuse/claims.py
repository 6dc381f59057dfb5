"""What of a prompt is claimed: which rows are taken from segments, and how much is computed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reprise_reuse.segments import Found
from reprise_reuse.work import RowWork
from reprise_vllm.reuse.messages import Piece

QUESTION_TOKENS = 64
"""so many tokens at most stand for the question"""
LAST_TOKENS = 32
"""so many tokens at the end of a prompt are always computed: the answer depends most on them, and on what they ask"""
_SHORT_TAIL = 16
"""a tail of fewer tokens that no segment holds is a chat template's, and the question stands elsewhere"""

_READ_AT_THE_COST_OF_ONE = 32
"""rows of context that the question's attention reads in the time in which one row is computed (4,000 tokens, a CPU)"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows [begin, end) of a prompt that are filled before vLLM computes what follows."""

    begin: int
    end: int
    found: Sequence[Found]
    """ascending and disjoint, within [begin, end)"""
    exact_end: int
    """rows before it are what full attention gives"""
    budget: int
    """reused rows that are computed again"""
    question: Sequence[int]
    is_lossless: bool = True
    """whether rows come back from host memory bit by bit"""

    @property
    def approximate(self) -> int:
        """Rows taken from segments that stood behind other tokens: what may be computed again."""
        return sum(one.match.length for one in self.found if not one.is_exact)

    @property
    def exact(self) -> int:
        """Rows taken from segments that are what full attention gives."""
        return self._behind_the_same if self.is_lossless else 0

    @property
    def gaps(self) -> int:
        """Rows that no segment holds."""
        return self.end - self.begin - sum(one.match.length for one in self.found)

    @property
    def reused(self) -> int:
        """Rows that are not quite what full attention gives, and not computed again."""
        return self.approximate - self.budget + self._behind_the_same - self.exact

    @property
    def computed(self) -> int:
        """Rows that are computed, and what it costs to choose some of them."""
        return self.gaps + self.budget + self.asking

    @property
    def asking(self) -> int:
        """What it costs to choose, in computed rows: the question's own, and reading the context."""
        return len(self.question) + self.end // _READ_AT_THE_COST_OF_ONE if 0 < self.budget < self.approximate else 0

    @property
    def _behind_the_same(self) -> int:
        return sum(one.match.length for one in self.found if one.is_exact)


def make_claim(
    found: Sequence[Found], begin: int, length: int, ratio: float, least: int, work: RowWork, *,
    is_lossless: bool = True,
) -> Claim | None:  # fmt: skip
    """What to claim of a prompt of `length` tokens of which [0, begin) is cached; None where it is not worth it.

    found  what segments hold of [begin, length), ascending and disjoint
    ratio  share of the work of computing the approximate rows that may be spent on computing some of them again
    least  fewer reused rows are not worth it
    is_lossless  whether rows come back from host memory bit by bit; where not, none of them is exact
    """
    if not is_lossless and ratio >= 1:
        # all is to be as full attention gives it
        found = [one._replace(is_exact=False) for one in found]
    new_tail = length - (found[-1].match.end if found else begin)
    found = _trim(found, length - LAST_TOKENS)
    if sum(one.match.length for one in found) < least:
        return None
    end = found[-1].match.end
    exact_end = begin
    for one in found:
        if not is_lossless or not one.is_exact or one.match.start != exact_end:
            break
        exact_end = one.match.end
    approximate = [np.arange(one.match.start, one.match.end) for one in found if not one.is_exact]
    budget = work.affordable(np.concatenate(approximate), ratio) if approximate else 0
    question = _question(found, begin, length, new_tail)
    claim = Claim(begin, end, found, exact_end, budget, question, is_lossless)
    return claim if claim.reused + claim.exact >= claim.asking else None


def piece_of(found: Found) -> Piece:
    """Where the rows of a found run lie."""
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
    """Positions of the tokens that ask: those behind the last segment, or, where few of these are new, all new ones.

    In a chat whose question comes first, it stands among the tokens that no segment holds.
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
