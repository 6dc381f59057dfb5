"""What the rows of loads need of an engine: a forward of its model, and the pages of its cache."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32}
_GOLDEN = 0x9E3779B97F4A7C1

Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], None]
"""layer, queries [n, query heads x size], keys and values [n, heads x size], or all with the last dimension split, and
where the output goes, which is like the queries"""


class Requests(NamedTuple):
    """Which requests rows belong to."""

    blocks: Sequence[torch.Tensor]
    """int64 [groups, m] each: a request's"""
    counts: Sequence[int]
    """how many of the rows are each request's, in order"""


class LastLayerReached(Exception):  # noqa: N818, since nothing is wrong
    """All keys and values are written; what the last layer would still compute is not needed."""


class Forward(Protocol):
    """Runs the engine's model on tokens of requests at their true positions, outside its steps."""

    most_rows: int
    """the most rows in a pass"""
    _attend: Attend | None = None
    """what a run uses instead of attention"""
    _slots: torch.Tensor | None = None
    """where it writes keys and values in every layer"""
    _is_under_way = False
    """it ends with the last layer's keys and values"""

    def ask(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Attend) -> None:
        """Runs tokens (int32 [n]) at `positions` (int64 [n]) with `attend` instead of attention. Writes no pages."""
        self._run(tokens, positions, attend=attend)

    def write(self, tokens: torch.Tensor, positions: torch.Tensor, slots: torch.Tensor, attend: Attend) -> None:
        """Like `ask`, and writes keys and values to slots of the engine's cache (int64 [n])."""
        self._run(tokens, positions, attend=attend, written=slots)

    def answer(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor | None:
        """Like `ask`, to the model's end: returns the last token's logits [vocabulary]; None on ranks without them."""

    def compute(self, tokens: torch.Tensor, rows: torch.Tensor, requests: Requests) -> None:
        """Runs tokens (int32 [n]) at positions `rows` by attention that reads the requests' pages, and writes keys and
        values to their blocks, in as many passes as the engine's limits demand.

        rows  int64 [n]: of one request after the other, ascending; earlier rows of their requests must already hold
              what they attend to
        """

    def add_up(self, scores: torch.Tensor) -> torch.Tensor:
        """Returns the sum over tensor-parallel ranks."""
        return scores

    def _run(
        self, tokens: torch.Tensor, positions: torch.Tensor, *, attend: Attend, written: torch.Tensor | None = None
    ) -> Any:
        """Runs the model with `attend` instead of attention; written: slots that keys and values are written to."""


class InPlace(NamedTuple):
    """All rows of an engine's cache, as kernels read them."""

    keys: torch.Tensor
    """[1, rows, heads, head size]; `values` has the same shape and strides"""
    values: torch.Tensor
    span: int
    """rows from the start of one block to the start of the next"""


class Layout(Protocol):
    """Reads the pages of a layer's cache. A slot is a token's place: block x block size + its place in the block."""

    block_size: int

    def read(self, cache: Any, blocks: torch.Tensor, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns keys and values [end - begin, heads, head size] of a request's rows, given its blocks (int64 [m])."""

    def keys_of_slots(self, cache: Any, slots: torch.Tensor) -> torch.Tensor:
        """Returns keys [n, heads, head size] of any slots of the cache (int64 [n])."""

    def read_slots(self, cache: Any, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns keys and values [n, heads, head size] of any slots of the cache (int64 [n])."""

    def in_place(self, cache: Any) -> InPlace:
        """Returns all rows of a cache where they are. Raises ValueError if they are not evenly spaced."""

    def places(self, slots: np.ndarray, span: int) -> np.ndarray:
        """Returns where slots of the cache (int64 [n]) are among the rows of `InPlace`, given its span; int64 [n]."""


def fingerprints(keys: torch.Tensor) -> torch.Tensor:
    """Returns a hash of the bits of each row of keys [n, heads, head size]; int64 [n]. Collisions are unlikely."""
    bits = keys.contiguous().view(_BITS[keys.element_size()]).flatten(1).long()
    return (bits * _odd_numbers(bits.shape[1], bits.device)).sum(1)


@cache
def _odd_numbers(count: int, device: torch.device) -> torch.Tensor:
    numbers = torch.arange(1, count + 1, device=device) * _GOLDEN
    return numbers | 1


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
    begins = torch.ones(len(rows), dtype=torch.bool, device=device)
    begins[1:] = (rows[1:] != rows[:-1] + 1) | (of_request[1:] != of_request[:-1])
    starts = torch.cat((begins.nonzero().flatten(), torch.tensor([len(rows)], device=device)))
    for first in range(0, len(starts) - 1, most_runs):
        of_pass = starts[first : first + most_runs + 1]
        begin, end = int(of_pass[0]), int(of_pass[-1])
        yield Runs(rows[begin:end], begin, (of_pass - begin).int(), of_request[of_pass[:-1]])
