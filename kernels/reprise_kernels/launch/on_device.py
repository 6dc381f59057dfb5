"""Chooses the GPU on which a Triton kernel is launched."""

from contextlib import AbstractContextManager, nullcontext

import torch


def on_device(tensor: torch.Tensor) -> AbstractContextManager[object]:
    """Within this context, kernels go to the tensor's GPU: Triton uses the current one, wherever arguments are."""
    return torch.cuda.device(tensor.device) if tensor.device.type == "cuda" else nullcontext()
