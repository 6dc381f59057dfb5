"""Decides what to claim of a prompt: which rows come from segments, and how many are computed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from reprise_reuse.costs import Costs, RowWork, pairs_of
from reprise_reuse.methods import METHODS, WITHOUT_QUESTION
from reprise_reuse.pieces import Piece
from reprise_reuse.segments import Found
from reprise_reuse.segments.segment import gaps

QUESTION_TOKENS = 64
"""at most this many tokens represent the question"""
LAST_TOKENS = 32
"""this many tokens at a prompt's end are always computed: the answer depends most on them and on what they ask"""
_SHORT_TAIL = 16
"""a shorter tail that no segment holds belongs to the chat template, and the question is elsewhere"""
_RUN = 2
"""chosen rows that are neighbours: 300 rows were in 127 runs, 600 in 145 (prompts of 2,000 tokens)"""


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long the parts of a request take, as predicted."""

    filling: float
    question: float
    rows: float
    rest: float
    """what the engine computes of the prompt after the load"""
    cold: float
    """everything that the engine would compute without reuse"""

    @property
    def load(self) -> float:
        """What is computed beside the engine's own steps."""
        return self.question + self.rows

    @property
    def saved(self) -> float:
        """What the engine need not compute because of the load."""
        return self.cold - self.rest

    @property
    def is_faster(self) -> bool:
        """Whether reuse is faster than no reuse."""
        return self.filling + self.load < self.saved


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows [begin, end) of a prompt, to be filled before the engine computes the rest."""

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
    seconds: Seconds | None = None
    is_lossless: bool = True
    """whether rows come back from host memory bit for bit"""

    @property
    def approximate(self) -> int:
        """Rows taken from segments that were computed after other tokens. These may be recomputed."""
        return sum(one.match.length for one in self.found if not one.is_exact)

    @property
    def exact(self) -> int:
        """Rows taken from segments that equal those of full attention."""
        return self._found_rows - self.approximate if self.is_lossless else 0

    @property
    def on_host(self) -> int:
        """Rows taken from segments that are in host memory alone."""
        return sum(one.match.length for one in self.found if one.segment.pages is None)

    @property
    def gaps(self) -> int:
        """Rows in [begin, end) that no segment holds."""
        return self.end - self.begin - self._found_rows

    @property
    def computed_from(self) -> int:
        """The first row that may be computed; `end` if none is."""
        starts = [start for start, _ in gaps(self.found, self.begin, self.end)]
        if self.budget:
            starts += [one.match.start for one in self.found if not one.is_exact]
        return min(starts, default=self.end)

    @property
    def reused(self) -> int:
        """Rows that only approximate full attention and are not recomputed."""
        return self._found_rows - self.exact - self.budget

    @property
    def asks(self) -> bool:
        """Whether a pass of the question decides which rows are recomputed."""
        return METHODS[self.method].reads_question and 0 < self.budget < self.approximate

    @property
    def _found_rows(self) -> int:
        return sum(one.match.length for one in self.found)


def make_claim(
    found: Sequence[Found], begin: int, length: int, ratio: float, least: int, work: RowWork, method: str,
    costs: Costs, *, is_lossless: bool = True, asked: range | None = None,
) -> Claim | None:  # fmt: skip
    """Returns what to claim of a prompt of `length` tokens whose first `begin` are cached; None if hardly any is found.

    If only asking the question which rows to recompute makes it slower than no reuse, they are chosen without it.

    found  what segments hold of [begin, length), ascending and disjoint
    ratio  share of the cost of computing the approximate rows that may be spent on recomputing some of them
    least  the fewest reused rows worth a claim
    method  how recomputed rows are chosen: a name in `reprise_reuse.methods.METHODS`
    costs  what the parts take on the workers' device
    is_lossless  whether rows come back from host memory bit for bit; if not, none of them is exact
    asked  positions of the question, if the request says them
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
    budget = work.affordable(_approximate(found), ratio)
    question = list(asked[-QUESTION_TOKENS:]) if asked else _question(found, begin, length, new_tail)
    claim = Claim(begin, end, found, exact_end, budget, question, method, is_lossless=is_lossless)
    claim = replace(claim, seconds=predict(claim, length, costs))
    without = replace(claim, method=WITHOUT_QUESTION, seconds=replace(claim.seconds, question=0.0))
    return without if claim.asks and not claim.seconds.is_faster and without.seconds.is_faster else claim


def why_unclaimed(found: Sequence[Found], claim: Claim | None, when: str) -> str | None:
    """Returns why nothing of what was found is claimed; None: it is, or nothing was found.

    when  a value of the setting `when`
    """
    if claim is None:
        return "few_tokens" if found else None
    return "slower" if when == "faster" and not claim.seconds.is_faster else None


def predict(claim: Claim, length: int, costs: Costs) -> Seconds:
    """Returns how long a prompt of `length` tokens takes with a claim, and without.

    Which rows are chosen is not known yet: as in the budget, they are taken to be the last, the most expensive ones.
    """
    in_pages = sum(one.match.length for one in claim.found) - claim.on_host
    computed = list(gaps(claim.found, claim.begin, claim.end))
    chosen = _approximate(claim.found)
    chosen = chosen[len(chosen) - claim.budget :]
    of_chosen = int(chosen.sum())
    return Seconds(
        filling=costs.filling + costs.filled_row * in_pages + costs.host_row * claim.on_host,
        question=costs.question + costs.question_key * claim.end if claim.asks else 0.0,
        rows=costs.forward(
            claim.gaps + claim.budget,
            sum(pairs_of(*gap) for gap in computed) + of_chosen + claim.budget,
            sum(start for start, _ in computed) + of_chosen / _RUN,
        ),
        rest=costs.prefill(claim.end, length),
        cold=costs.prefill(claim.begin, length),
    )


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
    return [
        one._replace(match=one.match._replace(length=min(one.match.length, limit - one.match.start)))
        for one in found if one.match.start < limit
    ]  # fmt: skip


def _approximate(found: Sequence[Found]) -> np.ndarray:
    """Returns the positions of rows that may be recomputed, ascending; int64 [n]."""
    runs = [np.arange(one.match.start, one.match.end) for one in found if not one.is_exact]
    return np.concatenate(runs) if runs else np.empty(0, np.int64)


def _question(found: Sequence[Found], begin: int, length: int, new_tail: int) -> list[int]:
    """Returns the positions of the question's tokens: those after the last segment. If few are new, adds earlier ones.

    If a chat's question comes first, it is among the tokens that no segment holds.
    """
    end = found[-1].match.end
    tail = list(range(max(end, length - QUESTION_TOKENS), length))
    if new_tail >= _SHORT_TAIL:
        return tail
    new = [position for gap in gaps(found, begin, end) for position in range(*gap)]
    room = QUESTION_TOKENS - len(tail)
    return [*(new[-room:] if room else ()), *tail]
