"""A step as page selection sees it: which of its requests are sparse."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


STEP = "reprise_step"
"""the attribute of attention metadata that tells layers what to choose"""


class Only(NamedTuple):
    """Where a step's only sparse request is, as host numbers, so that tensors are sliced instead of gathered."""

    row: int
    slot: int
    query: int
    """index of its token in the step"""
    listed: int
    """number of chosen pages"""


@dataclass(slots=True, kw_only=True)
class Step:
    """A step whose layers choose pages, or only list them."""

    is_captured: bool = False
    """its layers are recorded into a CUDA graph, which serves later steps, whatever is sparse in them"""
    build: Any = None
    """the stock builder's"""
    fallback: Any = None
    """metadata that layers must use instead, after a fault"""


@dataclass(slots=True, kw_only=True)
class SparseStep(Step):
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
    most_listed: int
    """the longest list"""
    due: int
    """how many of them, the first ones, choose in this step"""
    due_listed: int
    """the longest list among these"""
    due_full: int
    """the most complete pages among these"""
    always: torch.Tensor | None = None
    """float32 [due, due_full], from `always_listed`, if torch chooses"""
    only: Only | None = None
    """set if S is 1"""
    stock: "CommonAttentionMetadata"
    """the engine's metadata"""
    rewritten: "CommonAttentionMetadata"
    """the same with our table and lengths"""
