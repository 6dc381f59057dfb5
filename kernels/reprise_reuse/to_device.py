"""Copies from the host that neither wait nor make the device wait for more than their own bytes."""

import numpy as np
import torch


def to_device(values: np.ndarray, device: torch.device) -> torch.Tensor:
    """Returns values on a device. On a CPU the tensor shares their memory."""
    return _readable(values, device).to(device, non_blocking=True)


def copy_to(target: torch.Tensor, values: np.ndarray) -> None:
    """Overwrites a tensor with values of its shape."""
    target.copy_(_readable(values, target.device), non_blocking=True)


def _readable(values: np.ndarray, device: torch.device) -> torch.Tensor:
    given = torch.from_numpy(values)
    # from pageable memory, the host would wait until the device has got there
    return given if device.type == "cpu" else given.pin_memory()
