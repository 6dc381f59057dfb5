"""Rows to compute as runs of neighbours, each of which an engine's attention takes as one request."""

from typing import NamedTuple

import torch


class Runs(NamedTuple):
    """Rows in ascending order, and where the runs of neighbours among them begin."""

    rows: torch.Tensor
    """int64 [n]"""
    starts: torch.Tensor
    """int32 [runs + 1]: run i is rows[starts[i] : starts[i + 1]]"""

    @property
    def ends(self) -> torch.Tensor:
        """int32 [runs]: the position behind each run's last row, which is how much context the run attends to."""
        return (self.rows[self.starts[1:].long() - 1] + 1).int()


def to_runs(mask: torch.Tensor) -> Runs:
    """The runs of the rows that `mask` (bool [n]) names."""
    rows = mask.nonzero().flatten()
    begins = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    begins[1:] = rows[1:] != rows[:-1] + 1
    end = torch.tensor([len(rows)], device=rows.device)
    return Runs(rows, torch.cat((begins.nonzero().flatten(), end)).int())


def bridge(mask: torch.Tensor, gap: int, allowed: torch.Tensor) -> torch.Tensor:
    """Adds the rows of gaps of at most `gap` rows between named ones, where all of them are `allowed`; bool [n].

    A row more costs one row's work, a run less saves one pass over the keys before it.
    """
    rows = mask.nonzero().flatten()
    bridged = mask.clone()
    for left, right in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True):
        if 1 < right - left <= gap + 1 and bool(allowed[left + 1 : right].all()):
            bridged[left + 1 : right] = True
    return bridged
