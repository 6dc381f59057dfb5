"""What it costs to compute rows, and how many of them a share of that cost pays for."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class RowWork:
    """
    The work of computing a row: the same for all rows in linear layers, growing with its position in attention.

    Of a prompt of 4,000 tokens a small model's last rows cost more than twice as much as its first ones, and the last
    rows are those that methods choose most. So a share of rows says little about time, a share of work does.
    """

    even_keys: float = math.inf
    """how many keys a row attends to when its attention costs as much as all the rest of it; inf: rows cost alike"""

    def of(self, positions: np.ndarray) -> np.ndarray:
        """Returns the work of rows at these positions (int64 [n]), in that of a row that attends to nothing; [n]."""
        return 1 + positions / self.even_keys

    def affordable(self, positions: np.ndarray, share: float) -> int:
        """Returns how many rows of these positions (int64 [n]) cost no more than `share` of all of them, whichever.

        So as many as this pays for at the end, where rows cost most: with share 1 all, with 0 none.
        """
        work = np.sort(self.of(positions))[::-1].cumsum()
        # a whole share must not fail for the last bit of a sum
        return int(np.searchsorted(work, share * work[-1] * (1 + 1e-9), side="right")) if len(work) else 0
