"""Chooses the GPU on which a Triton kernel is launched."""

from contextlib import AbstractContextManager, nullcontext

import torch


def on_device(tensor: torch.Tensor) -> AbstractContextManager[object]:
    """Returns a context in which kernels run on the tensor's GPU; by itself Triton uses the current one."""
    return torch.cuda.device(tensor.device) if tensor.device.type == "cuda" else nullcontext()
