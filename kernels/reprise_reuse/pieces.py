"""What an engine's side of reuse is told to do with rows of a request, and where these are in its cache."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

GroupBlocks = Sequence[Sequence[int]]
"""[groups, m]: a request's blocks for each group of layers. Block 0 is no block: what it held was given back, since no
layer of the group sees it any more"""


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows [start, end) of a request, and where they are stored: in host memory or in the engine's own pages."""

    start: int
    end: int
    slots: np.ndarray | None
    """of host memory, int64 [end - start]"""
    owner: int
    """the segment's name: slots that belong to another segment by then are not used"""
    is_exact: bool = False
    """for a load: the rows equal those of full attention here"""
    is_average: bool = False
    """for a save: the rows add one more context to the mean that the slots hold"""
    is_held_as_one: bool = False
    """for an average: what the slots hold counts as a single context, however many it is the mean of"""
    pages: np.ndarray | None = None
    """slots of the engine's cache instead of host memory, int64 [end - start]"""
    position: int = 0
    """for a load from pages: where its first row was computed"""


@dataclass(frozen=True, slots=True)
class Load:
    """Fill rows [begin, end) of a request: from pieces, and the rest by computing."""

    request_id: str
    tokens: np.ndarray
    """int32 [n]: the whole prompt"""
    blocks: GroupBlocks
    begin: int
    end: int
    pieces: Sequence[Piece]
    """ascending, disjoint, within [begin, end)"""
    question: Sequence[int]
    """positions of the tokens whose attention decides which rows are chosen, ascending"""
    budget: int
    """how many rows of inexact pieces are recomputed"""
    method: str
    is_asynchronous: bool
    asking: float = 0.0
    """predicted seconds of the question's pass"""
    seconds: float = 0.0
    """predicted seconds of the question's pass and of computing rows"""

    @property
    def kind(self) -> str:
        """`late` if it takes several steps, else `now`."""
        return "late" if self.is_asynchronous else "now"


@dataclass(frozen=True, slots=True)
class Save:
    """Store rows of a request after this step's forward: copy them to host memory, or register them in their pages."""

    tokens: np.ndarray
    """int32 [n]: the prompt as far as it is computed"""
    blocks: GroupBlocks
    pieces: Sequence[Piece]
    computed_from: int = 0
    """from this row on, the engine's own step computed rows that all layers still hold"""


@dataclass(frozen=True, slots=True)
class Check:
    """Compare the first token's distribution, as reuse gives it, with that of full attention."""

    tokens: np.ndarray
    """int32 [n]: the whole prompt"""
    blocks: GroupBlocks


@dataclass(frozen=True, slots=True)
class Move:
    """Copy a segment's rows to host memory, from pages that are about to be overwritten."""

    tokens: np.ndarray
    """int32 [n]"""
    pages: np.ndarray
    slots: np.ndarray
    position: int
    owner: int


def meet(moves: Sequence[Move], loads: Sequence[Load]) -> bool:
    """Whether a load reads host memory slots that a move will write."""
    loaded = [piece.slots for load in loads for piece in load.pieces if piece.slots is not None]
    if not loaded:
        return False
    return bool(np.isin(np.concatenate([move.slots for move in moves]), np.concatenate(loaded)).any())


def cache_slots(blocks: Sequence[int], length: int, block_size: int) -> np.ndarray:
    """Returns the engine's cache slots of a request's first `length` tokens in these blocks; int64 [length]."""
    rows = np.arange(length)
    return np.array(blocks, dtype=np.int64)[rows // block_size] * block_size + rows % block_size


def slots_of(blocks: torch.Tensor, rows: torch.Tensor, block_size: int) -> torch.Tensor:
    """Returns the cache slots of a request's rows (int64 [n]), given its blocks (int64 [m])."""
    return blocks[rows // block_size] * block_size + rows % block_size


def as_blocks(blocks: GroupBlocks, device: torch.device) -> torch.Tensor:
    return torch.tensor(blocks, dtype=torch.int64, device=device)
