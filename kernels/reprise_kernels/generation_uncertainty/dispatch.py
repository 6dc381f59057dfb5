"""generation_uncertainty: checks its arguments and launches the kernel."""

from dataclasses import dataclass

import torch

from reprise_kernels.generation_uncertainty.triton import generation_uncertainty_kernel
from reprise_kernels.launch.checks import FLOATS, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import launch_config, on_device

INTERPRETED = {"block": 32, "warps": 8}


@dataclass(frozen=True)
class Uncertainty:
    """Each request's results for one decode step.

    entropy    float32 [B], of the next token
    page       float32 [B, 2]: mean and variance if a page has just filled, else NaN
    triggered  int32 [B]: 1 if both exceed their thresholds
    """

    entropy: torch.Tensor
    page: torch.Tensor
    triggered: torch.Tensor


def generation_uncertainty(
    logits: torch.Tensor, state: torch.Tensor, page_size: int, max_entropy: float, max_varentropy: float
) -> Uncertainty:
    """One decode step of `naive_page_uncertainty`. Updates `state`, float32 [B, 3] and zeros at first, in place.

    Nothing waits for the device: the host may read `triggered` a step late.
    """
    check_runnable(logits)
    check_tensor("logits", logits, (None, None), FLOATS)
    check_tensor("state", state, (len(logits), 3), (torch.float32,), logits.device)
    if logits.stride(1) != 1 or not state.is_contiguous():
        raise ValueError(f"logits has strides {logits.stride()}, state {state.stride()}: rows must be contiguous")
    if page_size < 1 or logits.shape[1] < 1:
        raise ValueError(f"pages of {page_size} tokens of a vocabulary of {logits.shape[1]}: 1 is the least")
    requests, vocabulary = logits.shape
    entropy = torch.empty((requests,), dtype=torch.float32, device=logits.device)
    page = torch.empty((requests, 2), dtype=torch.float32, device=logits.device)
    result = Uncertainty(entropy, page, torch.empty((requests,), dtype=torch.int32, device=logits.device))
    config = launch_config("generation_uncertainty", INTERPRETED)
    if requests:
        with on_device(logits):
            generation_uncertainty_kernel[(requests,)](
                logits, state, result.entropy, result.page, result.triggered, logits.stride(0), vocabulary, page_size,
                max_entropy, max_varentropy, BLOCK=config["block"], num_warps=config["warps"],
            )  # fmt: skip
    return result
