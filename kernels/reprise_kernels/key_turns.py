"""How far cached keys stand from where a request has them, for queries that are turned instead of the keys."""

from dataclasses import dataclass

import torch
import triton

from reprise_kernels.checks import check_index, check_tensor
from reprise_kernels.rotary import Rotary


@dataclass(frozen=True)
class KeyTurns:
    """The distances by which a request's keys would have to move; they stay, and the query turns the other way.

    of_tile    int32 [B, ceil(Nmax / tile)]: which of the distances holds for positions t * tile and on
    distances  [C] positions; tile 16, 32 or 64: a chunk begins at a multiple of it, as it does where it is page-aligned

    A token that was recomputed inside a moved chunk has to be stored as the chunk's others are: at its position less
    the chunk's distance.
    """

    rotary: Rotary
    distances: torch.Tensor
    of_tile: torch.Tensor
    tile: int

    def check(self, head_dim: int, requests: int, width: int, device: torch.device) -> None:
        """Raises ValueError unless these are the turns of so many requests with tables of this width."""
        if self.tile not in (16, 32, 64):
            raise ValueError(f"the turns have tiles of {self.tile} positions, they must be 16, 32 or 64")
        check_index("turns.of_tile", self.of_tile, (requests, triton.cdiv(width, self.tile)), device)
        check_tensor("turns.distances", self.distances, (None,), (torch.int32, torch.int64), device)
        # in heads of 256 the two halves and what they become do not fit into registers
        if head_dim not in (32, 64, 128):
            raise ValueError(f"queries are turned in heads of 32, 64 or 128 dimensions, these have {head_dim}")
        if not 2 <= self.rotary.dim <= head_dim:
            raise ValueError(f"the rotary embedding turns {self.rotary.dim} dimensions, a head has {head_dim}")
