"""The sparse requests of one step: what the attention kernel is told in place of their whole contexts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


@dataclass(slots=True)
class SparseStep:
    """
    S sparse requests; their lists of pages are [listed pages, in any order][pages that have filled since, the newest
    last].

    Order does not matter before the newest page, since keys carry their positions; lengths are exact, since only
    complete pages are left out.
    """

    rows: torch.Tensor
    """int64 [S] of the batch"""
    slots: torch.Tensor
    """int64 [S]"""
    queries: torch.Tensor
    """int64 [S]: which of the step's tokens is theirs"""
    source: torch.Tensor
    """int32 [S, W] the blocks of their whole contexts"""
    is_listed: torch.Tensor
    """bool [S, K]: which places of the list hold chosen pages"""
    tail: torch.Tensor
    """int32 [S, K] the blocks of the other places"""
    due: torch.Tensor | None
    """int64 [D] which of the S choose in this step; None: none does"""
    due_slots: torch.Tensor | None
    """int64 [D]"""
    due_most: int
    """the longest list among them"""
    due_full: int
    """the most complete pages among them"""
    always: torch.Tensor | None
    """float32 [D, due_full], of `always_listed`"""
    there: torch.Tensor | None
    """bool [D, due_full]"""
    stock: "CommonAttentionMetadata"
    """as the engine gave it"""
    rewritten: "CommonAttentionMetadata | None" = None
    """as we have it"""
    build: Any = None
    """the stock builder's `build`"""
    fallback: Any = None
    """metadata that layers are to use instead, after a fault"""


def take(values: torch.Tensor, at: torch.Tensor, only: int | None, dim: int = 0) -> torch.Tensor:
    """values at `at` along `dim`; a view where it is `only` one, which spares a copy of a request's summaries."""
    return values.index_select(dim, at) if only is None else values.narrow(dim, only, 1)
