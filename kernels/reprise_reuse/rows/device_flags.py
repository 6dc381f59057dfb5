"""Flags that the device computes and the host reads later."""

import numpy as np
import torch


class DeviceFlags:
    """Flags on the way from the device to the host: nobody waits for them before they are read."""

    def __init__(self, flags: torch.Tensor) -> None:
        """flags  bool [n]"""
        self._event: torch.cuda.Event | None = None
        self._host = flags
        if flags.device.type == "cuda":
            self._host = torch.empty(flags.shape, dtype=flags.dtype, pin_memory=True)
            self._host.copy_(flags, non_blocking=True)
            self._event = torch.cuda.current_stream(flags.device).record_event()

    def read(self) -> np.ndarray:
        """Returns them, after waiting until the device has got so far; bool [n]."""
        if self._event is not None:
            self._event.synchronize()
        return self._host.numpy()
