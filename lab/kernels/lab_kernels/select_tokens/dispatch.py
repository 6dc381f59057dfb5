"""select_tokens: checks its arguments and launches a kernel."""

import ctypes
from pathlib import Path

import torch

from lab_kernels.launch.cuda_kernel import CudaKernel, Launch, fits
from lab_kernels.launch.launch_spaces import Config, first_with, launch_config
from lab_kernels.select_tokens.triton import select_tokens_kernel
from reprise_kernels.launch.checks import check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device

INTERPRETED = {"block": 64, "warps": 16}
SELECT_TOKENS = CudaKernel("select_tokens", Path(__file__).with_name("select_tokens.cu"))
# a thread block's shared memory before its scores
SCRATCH_BYTES = 3336


def select_tokens(
    scores: torch.Tensor, lengths: torch.Tensor, ratio: float, capacity: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The positions of the top `ratio` of each request's float32 scores, as specified by `naive_select_tokens`.

    One launch. Nothing waits for the device: the number of positions is a tensor, and unused places hold -1.
    """
    check_runnable(scores)
    check_tensor("scores", scores, (None, None), (torch.float32,))
    check_index("lengths", lengths, (len(scores),), scores.device)
    if scores.stride(1) != 1:
        raise ValueError(f"scores has stride {scores.stride(1)} in its last dimension, it must be 1")
    if not 0 <= ratio <= 1:
        raise ValueError(f"the ratio is {ratio}, it must be between 0 and 1")
    requests, width = scores.shape
    capacity = width if capacity is None else capacity
    if capacity < 0:
        raise ValueError(f"the capacity is {capacity}, it must not be negative")
    positions = torch.empty((requests, capacity), dtype=torch.int32, device=scores.device)
    counts = torch.empty((requests,), dtype=torch.int32, device=scores.device)
    if requests == 0:
        return positions, counts
    config = launch_config("select_tokens", INTERPRETED)
    if "cluster" in config and fits(how := cuda_launch(requests, width, config), scores.device):
        sizes = (ctypes.c_longlong(scores.stride(0)), ctypes.c_int(width), ctypes.c_int(capacity))
        given = (scores, lengths, positions, counts, ctypes.c_double(ratio), *sizes)
        SELECT_TOKENS.launch(how, scores.device, given)
        return positions, counts
    config = config if "block" in config else first_with("select_tokens", "block")
    with on_device(scores):
        select_tokens_kernel[(requests,)](
            scores, lengths, positions, counts, ratio, scores.stride(0), width, capacity,
            BLOCK=config["block"], num_warps=config["warps"], enable_fp_fusion=False,
        )  # fmt: skip
    return positions, counts


def cuda_launch(requests: int, width: int, config: Config) -> Launch:
    """One cluster per request; each of its blocks holds its share of `width` scores."""
    cluster = config["cluster"]
    return Launch(requests * cluster, config["warps"], SCRATCH_BYTES + 4 * -(-width // cluster), cluster)
