"""Building blocks for the tests' cases."""

import pytest
import torch

from reprise_kernels.kv_fill import Turns

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# Triton's interpreter is silently wrong in bfloat16
DTYPES = [torch.float32, torch.float16, pytest.param(torch.bfloat16, marks=pytest.mark.gpu)]


def generator(seed: int) -> torch.Generator:
    """Returns a random number generator that is reproducible by seed."""
    return torch.Generator().manual_seed(seed)


def normal(shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator) -> torch.Tensor:
    """Normally distributed numbers on the device under test."""
    return torch.randn(shape, generator=random).to(dtype).to(DEVICE)


def indices(values: object) -> torch.Tensor:
    """An int32 tensor on the device under test."""
    return torch.as_tensor(values).to(torch.int32).to(DEVICE).contiguous()


def plain_turns(dim: int, positions: int, device: str = "cpu") -> Turns:
    """Returns RoPE's cosines and sines of moves by 0, 1, … positions, [positions, dim / 2] each."""
    frequencies = 10_000.0 ** (-torch.arange(dim // 2, dtype=torch.float64) * 2 / dim)
    angles = torch.arange(positions)[:, None] * frequencies
    return Turns(angles.cos().float().to(device), angles.sin().float().to(device))
