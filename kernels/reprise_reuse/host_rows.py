"""How rows of keys or values lie in host memory: as the pages hold them, or in eight bits."""

import torch

_LARGEST = 127


class PlainRows:
    """Rows [layers, slots, heads, head size] in the type of the pages: what was put comes back bit by bit."""

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        self._rows = torch.empty(shape, dtype=dtype, pin_memory=pinned)

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes rows [n, heads, head size] of one layer to slots (int64 [n])."""
        self._rows[layer, slots] = rows.to("cpu", self._rows.dtype)

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns the rows of one layer [n, heads, head size] on a device."""
        return self._rows[layer].index_select(0, slots).to(device, non_blocking=True)

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """A copy of what all layers of these slots hold, by name."""
        return {"rows": self._rows[:, slots]}

    def load_state(self, slots: torch.Tensor, state: dict[str, torch.Tensor]) -> None:
        """Puts back what `state` gave."""
        self._rows[:, slots] = state["rows"]


class Int8Rows:
    """
    Rows in eight bits, with one scale for each token, layer and head: a number is off by 1/252 of its head's largest.

    A row of 64 numbers takes 66 bytes, against 128 in half precision and 256 in single.
    """

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        """dtype: what `get` returns"""
        self._codes = torch.empty(shape, dtype=torch.int8, pin_memory=pinned)
        self._scales = torch.empty(shape[:3], dtype=torch.bfloat16, pin_memory=pinned)
        self._dtype = dtype

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes rows [n, heads, head size] of one layer to slots (int64 [n])."""
        rows = rows.float()
        scales = (rows.abs().amax(-1) / _LARGEST).to(torch.bfloat16)
        # a head whose numbers are all nought has no scale
        steps = scales.float().clamp(min=torch.finfo(torch.float32).tiny)
        codes = (rows / steps[..., None]).round_().clamp_(-_LARGEST, _LARGEST)
        self._codes[layer, slots] = codes.to(torch.int8).cpu()
        self._scales[layer, slots] = scales.cpu()

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns the rows of one layer [n, heads, head size] on a device."""
        codes = self._codes[layer].index_select(0, slots).to(device, non_blocking=True)
        scales = self._scales[layer].index_select(0, slots).to(device, non_blocking=True)
        return (codes * scales.float()[..., None]).to(self._dtype)

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """A copy of what all layers of these slots hold, by name."""
        return {"codes": self._codes[:, slots], "scales": self._scales[:, slots]}

    def load_state(self, slots: torch.Tensor, state: dict[str, torch.Tensor]) -> None:
        """Puts back what `state` gave."""
        self._codes[:, slots] = state["codes"]
        self._scales[:, slots] = state["scales"]


HostRows = PlainRows | Int8Rows
