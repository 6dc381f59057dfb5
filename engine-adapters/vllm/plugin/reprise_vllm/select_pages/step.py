"""The sparse requests of one step: what the attention kernel is told in place of their whole contexts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


class Only(NamedTuple):
    """Where the one sparse request of a step is, on the host: with numbers, tensors are sliced instead of gathered."""

    row: int
    slot: int
    query: int
    """which of the step's tokens is its"""
    listed: int
    """chosen pages"""


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
    only: Only | None = None
    """where S is 1"""
    rewritten: "CommonAttentionMetadata | None" = None
    """as we have it"""
    build: Any = None
    """the stock builder's `build`"""
    fallback: Any = None
    """metadata that layers are to use instead, after a fault"""


def take(values: torch.Tensor, slots: torch.Tensor, only: Only | None) -> torch.Tensor:
    """The rows of `slots`; a view where there is but one, which spares a copy of a request's summaries."""
    return values.index_select(0, slots) if only is None else values.narrow(0, only.slot, 1)
