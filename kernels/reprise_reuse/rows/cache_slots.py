"""Where a request's rows are in the engine's cache."""

from collections.abc import Sequence

import numpy as np
import torch

from reprise_reuse.pieces import GroupBlocks


def cache_slots(blocks: Sequence[int], length: int, block_size: int) -> np.ndarray:
    """Returns the engine's cache slots of a request's first `length` tokens in these blocks; int64 [length]."""
    rows = np.arange(length)
    return np.array(blocks, dtype=np.int64)[rows // block_size] * block_size + rows % block_size


def slots_of(blocks: torch.Tensor, rows: torch.Tensor, block_size: int) -> torch.Tensor:
    """Returns the cache slots of a request's rows (int64 [n]), given its blocks (int64 [m])."""
    return blocks[rows // block_size] * block_size + rows % block_size


def as_blocks(blocks: GroupBlocks, device: torch.device) -> torch.Tensor:
    return torch.tensor(blocks, dtype=torch.int64, device=device)
