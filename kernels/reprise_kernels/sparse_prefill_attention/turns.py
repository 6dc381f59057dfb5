"""How far cached keys stand from where a request has them, for queries that are turned instead of the keys."""

from dataclasses import dataclass

import torch

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
