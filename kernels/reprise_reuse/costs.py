"""What the parts of loads and of prefills cost, and how many rows a share of that cost pays for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Forward:
    """Seconds of forwards: `least` at least, else `start` and what rows add to it."""

    row: float
    """for each row of a forward"""
    pair: float = 0.0
    """for each key that a row attends to"""
    run: float = 0.0
    """for each key before a run of neighbouring rows, beside other runs"""
    start: float = 0.0
    least: float = 0.0

    def forward(self, rows: int, pairs: float, keys: float = 0) -> float:
        """Returns what a forward of so many rows takes.

        pairs  keys that the rows attend to, added up
        keys   keys before each of its runs of neighbours, added up
        """
        return max(self.least, self.start + self.row * rows + self.pair * pairs + self.run * keys) if rows else 0.0


@dataclass(frozen=True, slots=True)
class Costs(Forward):
    """Seconds of the parts of loads, of forwards of chosen rows, and of the engine's own prefills."""

    question: float = 0.0
    """for the question's forward"""
    question_key: float = 0.0
    """and for each key it attends to"""
    filling: float = 0.0
    """for filling a request's pages"""
    filled_row: float = 0.0
    """and for each row that is in the engine's pages"""
    host_row: float = 0.0
    """and for each row that is in host memory"""
    engine: Forward | None = None
    """the engine's own forwards, where chosen rows are computed in another way"""

    def rows_beside(self, tokens: int) -> float:
        """Returns how many rows are copied from or to host memory while the engine computes so many tokens."""
        return self.prefill(0, tokens) / self.host_row if self.host_row else math.inf if tokens else 0.0

    def prefill(self, begin: int, end: int) -> float:
        """Returns what computing rows [begin, end) of a prompt takes."""
        return (self.engine or self).forward(end - begin, pairs_of(begin, end), begin)

    def affordable(self, end: int, rows: int, seconds: float) -> tuple[int, float]:
        """Returns how many of `rows` before `end` take at most so long, at least 1 if there are any, and their time.

        As if each were the last one, and every second one began a run. Nobody looks at the device for it, and the
        result is the same on all tensor-parallel ranks.
        """
        each = max(self.row + (self.pair + self.run / 2) * end, 1e-12)
        count = min(rows, max(1, int((seconds - self.start) / each)))
        return count, self.forward(count, count * end, count * end / 2)


EVEN = Costs(row=1.0)
"""every row takes as long as any other, and nothing else takes any time"""


def pairs_of(begin: int, end: int) -> int:
    """Returns how many keys rows [begin, end) attend to, added up."""
    return (end * (end + 1) - begin * (begin + 1)) // 2


def fit(sizes: Sequence[Sequence[float]], seconds: Sequence[float]) -> list[float]:
    """Returns a cost per unit of each size, none negative, by which measured times are off least (relative squares).

    sizes    [measurements, units]
    seconds  [measurements], positive
    """
    relative = np.array(sizes, dtype=float) / np.array(seconds)[:, None]
    units = relative.shape[1]
    # units differ by orders of magnitude
    scale = relative.max(0).clip(min=1e-300)
    relative /= scale
    best, least_error = np.zeros(units), float(len(seconds))
    # so few units that all sets of them can be tried: the best one without negative costs is the constrained optimum
    for count in range(1, units + 1):
        for used in map(list, combinations(range(units), count)):
            found = np.linalg.lstsq(relative[:, used], np.ones(len(seconds)), rcond=None)[0]
            error = float(np.square(relative[:, used] @ found - 1).sum())
            if (found >= 0).all() and error < least_error:
                best, least_error = np.zeros(units), error
                best[used] = found
    return (best / scale).tolist()


@dataclass(frozen=True, slots=True)
class RowWork:
    """
    The work of computing a row: constant in linear layers, growing with the row's position in attention.

    In a prompt of 4,000 tokens, the last rows of a small model cost more than twice as much as its first ones, and
    methods choose the last rows most often. So a share of rows says little about time; a share of work does.
    """

    even_keys: float = math.inf
    """number of keys at which a row's attention costs as much as the rest of its work; inf: all rows cost the same"""

    def of(self, positions: np.ndarray) -> np.ndarray:
        """Returns the work of rows at these positions (int64 [n]), relative to a row that attends to nothing; [n]."""
        return 1 + positions / self.even_keys

    def affordable(self, positions: np.ndarray, share: float) -> int:
        """Returns how many rows, whichever they are, cost at most `share` of all these positions (int64 [n]).

        This is the number of last rows, the most expensive ones, that `share` pays for: 1 pays for all, 0 for none.
        """
        work = np.sort(self.of(positions))[::-1].cumsum()
        # a share of 1 must not fail because of a rounding error in the sum
        return int(np.searchsorted(work, share * work[-1] * (1 + 1e-9), side="right")) if len(work) else 0


def even_keys_of(described: Any, hidden: int, heads: int | None, kv_heads: int, head_size: int) -> float:
    """Returns how many keys a row must attend to before its attention costs as much as its weights.

    described  the configuration of the model's text, as Transformers names it; infinity if it does not say
    hidden     size of the model
    """
    experts = getattr(described, "num_experts_per_tok", None)
    inner = getattr(described, "moe_intermediate_size", None) if experts else None
    inner = inner or getattr(described, "intermediate_size", None)
    if not (isinstance(inner, int) and heads and head_size):
        return math.inf
    queries, keys = heads * head_size, kv_heads * head_size
    # a token passes several experts
    weights = 2 * hidden * (queries + keys) + 3 * hidden * inner * (experts or 1)
    # each attended key costs two multiplications per query element: one with the key, one with the value
    return weights / (2 * queries)
