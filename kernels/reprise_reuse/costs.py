"""What the parts of a load and of a prefill cost in seconds, as they were measured on the device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

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
