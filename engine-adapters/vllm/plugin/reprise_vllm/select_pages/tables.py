"""A step as page selection sees it: which of its requests are sparse, and what kernels read of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from reprise_vllm.select_pages.check_engine import Shape

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata

PLACE = 5
"""query, slot, complete pages (0: it keeps its list), length of its list, row in the batch"""
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


class KernelTables:
    """
    One block table and the lengths of a batch, and where its sparse requests are, at addresses that never change: a
    CUDA graph keeps those that it was captured with.

    A table serves all layers, because they run one after another. Each writes its own lists into it before its
    attention, in front of the pages filled since, which are the same in every layer.
    """

    def __init__(self, shape: Shape, slots: int, device: torch.device) -> None:
        def zeros(*sizes: int) -> torch.Tensor:
            return torch.zeros(sizes, dtype=torch.int32, device=device)

        self._page, self._device = shape.page, device
        self.blocks, self.lengths = zeros(shape.rows, shape.most_pages), zeros(shape.rows)
        self.source = zeros(slots, shape.most_pages)
        """the blocks of the sparse requests' whole contexts"""
        self._numbers = zeros(slots * PLACE + 1)
        self.where = self._numbers[:-1].view(slots, PLACE)
        """the sparse requests, those first that choose in this step; zeros after them"""
        self.due = self._numbers[-1:]
        """how many of them choose"""

    def take(self, common: "CommonAttentionMetadata") -> "CommonAttentionMetadata":
        """Copies the engine's table and lengths, and returns its metadata with ours in their places: all are dense."""
        count, given = common.num_reqs, common.block_table_tensor
        width = min(given.shape[1], self.blocks.shape[1], -(-int(common.max_seq_len) // self._page))
        self.blocks[:count, :width] = given[:count, :width]
        self.lengths[:count] = common.seq_lens[:count]
        self._numbers.zero_()
        return common.replace(block_table_tensor=self.blocks[:count], seq_lens=self.lengths[:count])

    def read(self, given: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Copies the blocks of these rows' (int64 [S]) contexts into `source`, and returns them: int32 [S, W]."""
        source = self.source[: len(rows), : given.shape[1]]
        source.copy_(given.index_select(0, rows)[:, : source.shape[1]])
        return source

    def shorten(self, where: np.ndarray, due: int, since: np.ndarray, total: np.ndarray, rows: torch.Tensor) -> None:
        """
        Leaves out the pages that are not listed, and lists the pages filled since a list was made after it.

        where  int32 [S, 5], as the field; due: how many of them choose; since, total int64 [S]: those pages are
        [since, total); rows  the last column, on the device

        Call `take` and `read` before.
        """
        numbers = np.zeros(self._numbers.shape, dtype=np.int32)
        numbers[: where.size], numbers[-1] = where.ravel(), due
        self._numbers.copy_(self.on_device(numbers))
        listed = where[:, 3].astype(np.int64)
        tails = total - since
        # shorter tails repeat their last page
        place = np.minimum(np.arange(tails.max()), tails[:, None] - 1)
        left_out = ((total - listed - tails) * self._page)[:, None]
        moved = self.on_device(np.concatenate([-left_out, listed[:, None] + place, since[:, None] + place], 1))
        to, of = moved[:, 1:].tensor_split(2, 1)
        self.lengths.index_add_(0, rows, moved[:, 0].int())
        self.blocks[rows[:, None], to] = self.source[: len(rows)].gather(1, of)

    def write(self, step: SparseStep, chosen: torch.Tensor) -> None:
        """Writes the lists of a layer (int32 [slots, N]) to the starts of its requests' rows."""
        if step.only is not None:
            row, slot, _, listed = step.only
            self.blocks[row, :listed] = chosen[slot, :listed]
            return
        most = step.most_listed
        is_listed = torch.arange(most, device=self._device) < self.where[: len(step.rows), 3:4]
        lists = chosen.index_select(0, step.slots)[:, :most]
        self.blocks[step.rows, :most] = torch.where(is_listed, lists, self.blocks[step.rows, :most])

    def on_device(self, values: np.ndarray) -> torch.Tensor:
        """Returns these values on the device."""
        return torch.from_numpy(values).to(self._device, non_blocking=True)
