"""Tile sizes, and the warps and stages of a program."""

from typing import Literal

import torch
import triton
from triton import knobs

from reprise_kernels.launch.launch_configs import launch_config
from reprise_kernels.launch.tile import Tile, tile_of

Variant = Literal["slots", "shared"]
INTERPRETED = {"rows": 64, "keys": 32, "warps": 4, "stages": 2}


def choose_tile(dtype: torch.dtype, head_dim: int, group: int, variant: Variant) -> Tile:
    """Returns the tile for these queries: large for the tensor cores, small under the interpreter."""
    precision = "ieee" if dtype == torch.float32 else "tf32"
    dim = triton.next_power_of_2(head_dim)
    if variant == "slots" and dtype != torch.float32 and dim <= 128:
        return tile_of(launch_config("sparse_prefill_attention", INTERPRETED), precision, dim)
    if knobs.runtime.interpret:
        return tile_of(INTERPRETED, precision, dim)
    # the largest tiles for which the compiler needs no stack, on both targets of COMPILED.md
    if dtype == torch.float32:
        return Tile(max(32, triton.next_power_of_2(group)), 16, 8, 2, precision, dim)
    if dim > 128:
        return Tile(64, 32 if dim > 128 else 64, 8, 2, precision, dim)
    return Tile(128, 64, 8, 3, precision, dim)
