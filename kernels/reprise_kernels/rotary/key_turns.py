"""How far cached keys are from a request's positions, for kernels that turn the queries instead of the keys."""

from dataclasses import dataclass

import torch
import triton

from reprise_kernels.launch.checks import check_index, check_tensor
from reprise_kernels.rotary.embedding import Rotary


@dataclass(frozen=True)
class KeyTurns:
    """The distances by which a request's keys would have to move. The keys stay; the query turns the other way.

    of_tile    int32 [B, ceil(Nmax / tile)]: which of the distances applies from position t * tile on
    distances  [C] positions; tile 16, 32 or 64: every chunk begins at a multiple of it, e.g. because it is page-aligned

    A token that is recomputed inside a moved chunk must be stored like the chunk's other tokens: at its position minus
    the chunk's distance.
    """

    rotary: Rotary
    distances: torch.Tensor
    of_tile: torch.Tensor
    tile: int

    def check(self, head_dim: int, requests: int, width: int, device: torch.device) -> None:
        """Raises ValueError unless these turns fit this many requests with tables of this width."""
        if self.tile not in (16, 32, 64):
            raise ValueError(f"the turns have tiles of {self.tile} positions, they must be 16, 32 or 64")
        check_index("turns.of_tile", self.of_tile, (requests, triton.cdiv(width, self.tile)), device)
        check_tensor("turns.distances", self.distances, (None,), (torch.int32, torch.int64), device)
        # with heads of 256, the two halves and their turned versions do not fit into registers
        if head_dim not in (32, 64, 128):
            raise ValueError(f"queries are turned in heads of 32, 64 or 128 dimensions, these have {head_dim}")
        if not 2 <= self.rotary.dim <= head_dim:
            raise ValueError(f"the rotary embedding turns {self.rotary.dim} dimensions, a head has {head_dim}")
