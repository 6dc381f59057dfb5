"""A measurement: our kernel and its rivals on the same data, and the amount of work."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

Run = Callable[[], object]


@dataclass(frozen=True)
class Shape:
    """The sizes of a model's attention and of a context."""

    q_heads: int = 32
    kv_heads: int = 8
    head_dim: int = 128
    context: int = 32_768
    page_size: int = 16
    question: int = 64
    layers: int = 32
    vocabulary: int = 128_256
    ratios: tuple[float, ...] = (0.05, 0.15, 0.3, 1.0)
    batches: tuple[int, ...] = (1, 4, 16, 64)
    dtype: torch.dtype = torch.bfloat16
    device: str = "cuda"

    def randn(self, *size: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Random numbers in the model's data type."""
        return torch.randn(*size, device=self.device).to(dtype or self.dtype)

    def indices(self, values: torch.Tensor) -> torch.Tensor:
        """An int32 tensor on the device."""
        return values.to(torch.int32).to(self.device)


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `check` raises if the result is wrong at this exact size. `flops` and `bytes` count the necessary work. `bound`
    names the ceiling that limits it: "flops"; "memory" if it writes as much as it reads, or "read"; "to_host" or
    "to_device"; None if launches limit it. Rivals are created when their turn comes, so they take no memory before.
    `graph`: all are timed in a CUDA graph.
    """

    name: str
    run: Run
    check: Run
    flops: float
    bytes: float
    bound: str | None
    rivals: dict[str, Callable[[], Run]] = field(default_factory=dict)
    graph: bool = False
