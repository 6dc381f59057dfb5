"""On which GPU a kernel in Triton is launched."""

from contextlib import AbstractContextManager, nullcontext

import torch


def on_device(tensor: torch.Tensor) -> AbstractContextManager[object]:
    """Within it kernels go to the tensor's GPU: Triton launches on the current one, wherever its arguments lie."""
    return torch.cuda.device(tensor.device) if tensor.device.type == "cuda" else nullcontext()
