"""Rows to compute, as runs of neighbours; an engine's attention handles each run as one request."""

from collections.abc import Iterator
from typing import NamedTuple

import torch

_KEYS_READ_IN_A_ROWS_TIME = 512


class Runs(NamedTuple):
    """Rows in ascending order, and where the runs of neighbours begin."""

    rows: torch.Tensor
    """int64 [n]"""
    starts: torch.Tensor
    """int32 [runs + 1]: run i is rows[starts[i] : starts[i + 1]]"""

    @property
    def ends(self) -> torch.Tensor:
        """int32 [runs]: the position after each run's last row, which is the context length that the run attends to."""
        return (self.rows[self.starts[1:].long() - 1] + 1).int()


def to_passes(rows: torch.Tensor, most_rows: int, most_runs: int) -> Iterator[Runs]:
    """Yields rows (int64 [n], ascending) in order, in as many parts as an engine's limits on a forward demand.

    A run that is cut in two is two runs: the second attends to the first, so the results are the same.
    """
    for part in rows.split(most_rows):
        starts = [*_begin_runs(part).nonzero().flatten().tolist(), len(part)]
        for first in range(0, len(starts) - 1, most_runs):
            of_pass = starts[first : first + most_runs + 1]
            begin, end = of_pass[0], of_pass[-1]
            yield Runs(part[begin:end], torch.tensor(of_pass, dtype=torch.int32, device=rows.device) - begin)


def affordable(rows: torch.Tensor, budget: int) -> int:
    """Returns how many of the first rows (int64 [n], ascending) cost at most `budget` single rows; at least 1.

    In addition to its own rows, a run costs a pass over the keys before it; 512 keys take as long as one row. This was
    measured on a CPU at 4,000 tokens; if passes are cheaper, a slice is smaller than it could be.
    """
    if len(rows) <= 1:
        return len(rows)
    cost = (1 + _begin_runs(rows) * (rows // _KEYS_READ_IN_A_ROWS_TIME)).cumsum(0)
    return max(1, int((cost <= budget).sum()))


def _begin_runs(rows: torch.Tensor) -> torch.Tensor:
    """Returns which of these rows (int64 [n], ascending) begin a run of neighbours; bool [n]."""
    begins = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    begins[1:] = rows[1:] != rows[:-1] + 1
    return begins
