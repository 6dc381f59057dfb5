"""The sizes of tiles, and in how many shares the keys are read."""

import torch
import triton
from triton import knobs

from reprise_kernels.tile import Tile

# two programs for each of an H200's 132 multiprocessors
PROGRAMS = 264
MOST_SPLITS = 64


def choose_tile(dtype: torch.dtype, head_dim: int, group: int) -> Tile:
    """The tile for one query with `group` heads a key head."""
    precision = "ieee" if dtype == torch.float32 else "tf32"
    rows, dim = max(16, triton.next_power_of_2(group)), triton.next_power_of_2(head_dim)
    if knobs.runtime.interpret:
        return Tile(rows, 16, 4, 2, precision, dim)
    if dtype == torch.float32:
        return Tile(rows, 16, 8, 2, precision, dim)
    return Tile(rows, 32 if dim > 128 else 64, 4, 3, precision, dim)


def choose_splits(requests: int, key_heads: int, places: int, keys: int) -> int:
    """How many shares fill the GPU, from shapes alone: no more than there can be tiles of keys."""
    wanted = triton.cdiv(PROGRAMS, requests * key_heads)
    return max(1, min(wanted, triton.cdiv(places, keys), MOST_SPLITS))
