"""The sparse requests of one step, and the page lists that the attention kernel gets instead of whole contexts."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


class Only(NamedTuple):
    """Where a step's only sparse request is, as host numbers, so that tensors are sliced instead of gathered."""

    row: int
    slot: int
    query: int
    """index of its token in the step"""
    listed: int
    """number of chosen pages"""


@dataclass(slots=True)
class SparseStep:
    """
    S sparse requests. Each list of pages is [listed pages, in any order][pages filled since, newest last].

    The order before the newest page does not matter, because keys carry their positions. Lengths are exact, because
    only complete pages are left out.
    """

    rows: torch.Tensor
    """int64 [S], in the batch"""
    slots: torch.Tensor
    """int64 [S]"""
    queries: torch.Tensor
    """int64 [S]: index of each request's token in the step"""
    source: torch.Tensor
    """int32 [S, W]: the blocks of their whole contexts"""
    tables: torch.Tensor
    """int32 [lists, B, K]: the whole batch's table for each layer, or one for all layers"""
    due: torch.Tensor | None
    """int64 [D]: which of the S choose in this step; None: none does"""
    due_slots: torch.Tensor | None
    """int64 [D]"""
    due_most: int
    """the longest list among them"""
    due_full: int
    """the most complete pages among them"""
    always: torch.Tensor | None
    """float32 [D, due_full], from `always_listed`"""
    there: torch.Tensor | None
    """bool [D, due_full]: which pages exist"""
    where: torch.Tensor | None
    """int32 [D, 5]: query, slot, complete pages, length of the list, row in the batch"""
    due_source: torch.Tensor | None
    """int32 [D, W]: their rows of `source`"""
    for_kernels: Any
    """the same for `choose_pages` of reprise-kernels, if it chooses"""
    stock: "CommonAttentionMetadata"
    """the engine's metadata"""
    only: Only | None = None
    """set if S is 1"""
    rewritten: "CommonAttentionMetadata | None" = None
    """our metadata"""
    build: Any = None
    """the stock builder's `build`"""
    fallback: Any = None
    """metadata that layers must use instead, after a fault"""

    def of_layer(self, metadata: Any, index: int) -> Any:
        """Returns the kernel's metadata with this layer's table."""
        if len(self.tables) == 1:
            return metadata
        own = copy.copy(metadata)
        own.block_table = self.tables[index]
        return own


def take(values: torch.Tensor, slots: torch.Tensor, only: Only | None) -> torch.Tensor:
    """Returns the rows of `slots`. If there is only one, returns a view, to avoid copying a request's summaries."""
    return values.index_select(0, slots) if only is None else values.narrow(0, only.slot, 1)
