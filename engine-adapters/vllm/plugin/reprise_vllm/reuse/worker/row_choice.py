"""Decides which rows of a load to compute: those that no segment holds, and those that its method chooses."""

from dataclasses import dataclass

import torch

from reprise_reuse.methods import METHODS, Evidence, choose
from reprise_vllm.reuse.messages import Load, Piece
from reprise_vllm.reuse.worker.evidence import PromptPages, attention_of_question, evidence_of_prefill


@dataclass(slots=True)
class Filled:
    """Which of a load's rows [0, end) the pages hold."""

    missing: torch.Tensor
    """bool [end], on the device: rows that no segment holds"""
    free: torch.Tensor
    """bool [end], on the device: rows of segments computed after other tokens, so they may be recomputed"""
    spread: torch.Tensor
    """float32 [end]: how much a row's values vary over its segment's contexts"""
    offset: torch.Tensor
    """float32 [end]: a row's distance from the start of its segment"""

    @staticmethod
    def nothing(begin: int, end: int, device: torch.device) -> "Filled":
        """Returns the state in which rows [0, begin) are present and [begin, end) are missing."""
        missing = torch.ones(end, dtype=torch.bool, device=device)
        missing[:begin] = False
        return Filled(missing, torch.zeros_like(missing), torch.zeros(end), torch.zeros(end))

    def take(self, piece: Piece, spread: torch.Tensor) -> None:
        """Marks a segment's rows as present; spread: float32 [n]."""
        rows = slice(piece.start, piece.end)
        self.missing[rows] = False
        self.free[rows] = not piece.is_exact
        self.spread[rows] = spread
        self.offset[rows] = torch.arange(piece.end - piece.start)


@dataclass(slots=True)
class OpenLoad:
    """A load with rows that still have to be computed."""

    load: Load
    tokens: torch.Tensor
    blocks: torch.Tensor
    filled: Filled
    rows: torch.Tensor | None = None
    """int64 [n], ascending: still to be computed; None: not chosen yet"""


def rows_to_compute(
    prompt: PromptPages, load: Load, tokens: torch.Tensor, blocks: torch.Tensor, filled: Filled
) -> torch.Tensor:
    """Returns the rows to compute, ascending; int64 [n]."""
    return (filled.missing | _chosen(prompt, load, tokens, blocks, filled)).nonzero().flatten()


def agree(prompt: PromptPages, filled: Filled) -> Filled:
    """Returns a state shared by all tensor-parallel ranks, so that all compute the same rows.

    Each rank may have lost different rows, and knows only the spread of its own heads.
    """
    if prompt.ranks == 1:
        return filled
    device = filled.missing.device
    own = torch.stack((filled.missing.float(), filled.spread.to(device).square()))
    missing, squares = prompt.sum_over_ranks(own)
    is_missing = missing > 0
    return Filled(is_missing, filled.free & ~is_missing, squares.sqrt(), filled.offset)


def _chosen(
    prompt: PromptPages, load: Load, tokens: torch.Tensor, blocks: torch.Tensor, filled: Filled
) -> torch.Tensor:
    """Returns a mask of the reused rows to recompute; bool [end]."""
    candidates = int(filled.free.sum())
    if load.budget == 0 or candidates == 0:
        return torch.zeros_like(filled.free)
    if load.budget >= candidates:
        return filled.free
    method = METHODS[load.method]
    attention = None
    if method.reads_question:
        attention = attention_of_question(prompt, tokens, blocks, load, ~filled.missing)
    reference = evidence_of_prefill(prompt, tokens, blocks, load) if method.is_reference else {}
    device = tokens.device
    evidence = Evidence(attention, filled.spread.to(device), filled.offset.to(device), seed=load.end, **reference)
    return choose(method.score(evidence), filled.free, load.budget)
