"""Rotary position embeddings: which pairs of dimensions turn, and how fast; angles are computed in float64."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch

from reprise_kernels.kv_fill import Turns


@dataclass(frozen=True)
class Rotary:
    """A model's rotary embedding: `frequencies[i]` is in radians per position, for the i-th pair of dimensions.

    The pairs are (i, i + R/2) of the first R = 2 * len(frequencies) dimensions, or (2i, 2i + 1) if `interleaved`;
    dimensions from R on do not turn. A factor on the embedding's length (YaRN's) is already in the cached keys and is
    not part of a move.
    """

    frequencies: tuple[float, ...]
    interleaved: bool = False

    @property
    def dim(self) -> int:
        """How many leading dimensions of a head turn."""
        return 2 * len(self.frequencies)

    def turns(self, distance: torch.Tensor) -> Turns:
        """Returns the cosines and sines of moves by `distance` [C] positions, on the same device.

        This takes six small torch launches.
        """
        # in float32 an angle of 1e5 radians is off by 8e-3
        angles = distance.to(torch.float64)[:, None] * _on_device(self.frequencies, distance.device)
        return Turns(torch.cos(angles).float(), torch.sin(angles).float())


@lru_cache(maxsize=64)
def _on_device(frequencies: tuple[float, ...], device: torch.device) -> torch.Tensor:
    """Cached, because a copy from the host waits and cannot be part of a CUDA graph."""
    return torch.tensor(frequencies, dtype=torch.float64, device=device)


def plain_rotary(dim: int, base: float = 10_000.0, interleaved: bool = False) -> Rotary:
    """RoPE as first published: the frequencies decrease geometrically from 1 to nearly 1/base."""
    return Rotary(tuple(base ** (-2 * i / dim) for i in range(dim // 2)), interleaved)


def llama3_rotary(
    dim: int,
    base: float = 500_000.0,
    factor: float = 8.0,
    low_frequency_factor: float = 1.0,
    high_frequency_factor: float = 4.0,
    original_length: int = 8192,
) -> Rotary:
    """Llama 3.1's scaling: slow pairs turn `factor` times slower, fast ones as before, with a ramp in between."""

    def scaled(frequency: float) -> float:
        turns = original_length * frequency / (2 * math.pi)
        share = (turns - low_frequency_factor) / (high_frequency_factor - low_frequency_factor)
        share = min(max(share, 0.0), 1.0)
        return (1 - share) * frequency / factor + share * frequency

    return Rotary(tuple(scaled(frequency) for frequency in plain_rotary(dim, base).frequencies))


def yarn_rotary(
    dim: int,
    base: float = 10_000.0,
    factor: float = 4.0,
    original_length: int = 32_768,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
) -> Rotary:
    """YaRN's scaling: a ramp over the indices of the pairs, between those that turn beta_slow and beta_fast times."""

    def pair_that_turns(times: float) -> float:
        return dim * math.log(original_length / (times * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(pair_that_turns(beta_fast)), 0)
    high = min(math.ceil(pair_that_turns(beta_slow)), dim - 1)

    def scaled(i: int, frequency: float) -> float:
        ramp = min(max((i - low) / max(high - low, 1e-3), 0.0), 1.0)
        return ramp * frequency / factor + (1 - ramp) * frequency

    return Rotary(tuple(scaled(i, frequency) for i, frequency in enumerate(plain_rotary(dim, base).frequencies)))
