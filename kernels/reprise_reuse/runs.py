"""Rows to compute, as runs of neighbours; an engine's attention handles each run as one request."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch


class Runs(NamedTuple):
    """Rows of one request after the other, ascending, and where the runs of neighbours begin."""

    rows: torch.Tensor
    """int64 [n]"""
    begin: int
    """where they begin among all rows given"""
    starts: torch.Tensor
    """int32 [runs + 1]: run i is rows[starts[i] : starts[i + 1]]"""
    requests: torch.Tensor
    """int64 [runs]: whose they are"""

    @property
    def ends(self) -> torch.Tensor:
        """int32 [runs]: the position after each run's last row, which is the context length that the run attends to."""
        return (self.rows[self.starts[1:].long() - 1] + 1).int()


def to_passes(rows: torch.Tensor, counts: Sequence[int], most_runs: int) -> Iterator[Runs]:
    """Yields rows (int64 [n]) in order, in as many parts as an engine's limit on requests in a forward demands.

    counts  how many rows are each request's, in order; a request's rows ascend
    """
    device = rows.device
    of_request = torch.repeat_interleave(torch.arange(len(counts), device=device), torch.tensor(counts, device=device))
    begins = _begin_runs(rows)
    begins[1:] |= of_request[1:] != of_request[:-1]
    starts = torch.cat((begins.nonzero().flatten(), torch.tensor([len(rows)], device=device)))
    for first in range(0, len(starts) - 1, most_runs):
        of_pass = starts[first : first + most_runs + 1]
        begin, end = int(of_pass[0]), int(of_pass[-1])
        yield Runs(rows[begin:end], begin, (of_pass - begin).int(), of_request[of_pass[:-1]])


def _begin_runs(rows: torch.Tensor) -> torch.Tensor:
    """Returns which of these rows (int64 [n], ascending) begin a run of neighbours; bool [n]."""
    begins = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    begins[1:] = rows[1:] != rows[:-1] + 1
    return begins
