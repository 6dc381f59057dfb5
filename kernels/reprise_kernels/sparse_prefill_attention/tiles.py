"""The sizes of tiles, and how many warps and stages a program has."""

import torch
import triton
from triton import knobs

from reprise_kernels.tile import Tile


def choose_tile(dtype: torch.dtype, head_dim: int, group: int, turned: bool = False) -> Tile:
    """The tile for these queries: large for the tensor cores, small under the interpreter."""
    precision = "ieee" if dtype == torch.float32 else "tf32"
    dim = triton.next_power_of_2(head_dim)
    if knobs.runtime.interpret:
        # so that small cases have tiles to get wrong
        return Tile(64, 32, 4, 2, precision, dim)
    # the largest for which the compiler needs no stack, on both targets of COMPILED.md
    if dtype == torch.float32:
        return Tile(max(32, triton.next_power_of_2(group)), 16, 8, 2, precision, dim)
    if turned or dim > 128:
        return Tile(64, 32 if dim > 128 else 64, 8, 2, precision, dim)
    return Tile(128, 64, 8, 3, precision, dim)
