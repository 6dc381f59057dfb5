"""Tile sizes, and the number of splits in which the keys are read."""

import torch
import triton
from triton import knobs

from lab_kernels.launch.launch_spaces import Config, launch_config
from reprise_kernels.launch.launch_configs import Tile

MOST_SPLITS = 64
# for a request as long as its table: in an uneven batch, the longest request must not be read by one program alone
MOST_PLACES_OF_A_SHARE = 2048
INTERPRETED = {"keys": 16, "warps": 4, "stages": 2, "programs": 264}


def choose_tile(dtype: torch.dtype, head_dim: int, group: int) -> Tile:
    """Returns the tile for one query with `group` heads per key head."""
    precision = "ieee" if dtype == torch.float32 else "tf32"
    rows, dim = max(16, triton.next_power_of_2(group)), triton.next_power_of_2(head_dim)
    if dtype != torch.float32 and dim <= 128:
        config = _config()
        return Tile(rows, config["keys"], config["warps"], config["stages"], precision, dim)
    if knobs.runtime.interpret:
        return Tile(rows, 16, 4, 2, precision, dim)
    return Tile(rows, 16, 8, 2, precision, dim) if dtype == torch.float32 else Tile(rows, 32, 4, 3, precision, dim)


def choose_splits(requests: int, key_heads: int, places: int, keys: int) -> int:
    """How many splits fill the GPU and divide long requests, from shapes alone; at most one per tile of keys."""
    wanted = triton.cdiv(_config()["programs"], requests * key_heads)
    wanted = max(wanted, triton.cdiv(places, MOST_PLACES_OF_A_SHARE))
    return max(1, min(wanted, triton.cdiv(places, keys), MOST_SPLITS))


def _config() -> Config:
    return launch_config("sparse_decode_attention", INTERPRETED)
