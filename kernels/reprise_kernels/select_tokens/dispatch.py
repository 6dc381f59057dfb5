"""select_tokens: checks what it is given and launches the kernel."""

import torch

from reprise_kernels.checks import check_index, check_runnable, check_tensor
from reprise_kernels.launch_configs import launch_config
from reprise_kernels.select_tokens.triton import select_tokens_kernel

INTERPRETED = {"block": 64, "warps": 16}


def select_tokens(
    scores: torch.Tensor, lengths: torch.Tensor, ratio: float, capacity: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The positions of the top `ratio` of each request's float32 scores, as `naive_select_tokens` says.

    Nothing waits for the device: how many were taken is a tensor, and places without one hold -1.
    """
    check_runnable(scores)
    check_tensor("scores", scores, (None, None), (torch.float32,))
    check_index("lengths", lengths, (len(scores),), scores.device)
    if scores.stride(1) != 1:
        raise ValueError(f"scores has stride {scores.stride(1)} in its last dimension, it must be 1")
    if not 0 <= ratio <= 1:
        raise ValueError(f"the ratio is {ratio}, it must be between 0 and 1")
    capacity = scores.shape[1] if capacity is None else capacity
    if capacity < 0:
        raise ValueError(f"the capacity is {capacity}, it must not be negative")
    # in float64, as the specification: 0.07 * 100 is a little over 7
    wanted = torch.ceil(lengths.double() * ratio - 1e-6).clamp(min=0, max=capacity).to(torch.int32)
    positions = torch.empty((len(scores), capacity), dtype=torch.int32, device=scores.device)
    config = launch_config("select_tokens", INTERPRETED)
    if len(scores):
        select_tokens_kernel[(len(scores),)](
            scores, lengths, wanted, positions, scores.stride(0), positions.stride(0), capacity,
            BLOCK=config["block"], num_warps=config["warps"],
        )  # fmt: skip
    return positions, wanted
