"""How rows of keys or values lie in host memory: as the pages hold them, in eight bits, or in four."""

from collections.abc import Sequence

import torch


class PlainRows:
    """Rows [layers, slots, heads, head size] in the type of the pages: what was put comes back bit by bit."""

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        self._rows = _take_memory(shape, dtype, pinned=pinned)

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes rows [n, heads, head size] of one layer to slots (int64 [n])."""
        self._rows[layer, slots] = rows.to("cpu", self._rows.dtype)

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns the rows of one layer [n, heads, head size] on a device."""
        return _gather(self._rows[layer], slots, device)

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """A copy of what all layers of these slots hold, by name."""
        return {"rows": self._rows[:, slots]}

    def load_state(self, slots: torch.Tensor, state: dict[str, torch.Tensor]) -> None:
        """Puts back what `state` gave."""
        self._rows[:, slots] = state["rows"]


class CodedRows:
    """
    Rows as whole numbers of few bits, with a scale for each group of numbers of a token, layer and head.

    With eight bits a group is a head: a number is off by 1/252 of its head's largest, and a row of 64 numbers takes 66
    bytes, against 128 in half precision and 256 in single. With four bits a group is 32 numbers: a number is off by
    1/13 of its group's largest, and a row of 64 takes 36 bytes.
    """

    def __init__(self, bits: int, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        """bits: 8 or 4; dtype: what `get` returns"""
        *slots, head_size = shape
        self._bits, self._dtype = bits, dtype
        self._group = _group(bits, head_size)
        self._largest = 2 ** (bits - 1) - 1
        self._codes = _take_memory((*slots, head_size * bits // 8), torch.uint8, pinned=pinned)
        self._scales = _take_memory((*slots, head_size // self._group), torch.bfloat16, pinned=pinned)

    @staticmethod
    def bytes_of(bits: int, head_size: int) -> int:
        """Bytes that a head's row takes."""
        return head_size * bits // 8 + 2 * (head_size // _group(bits, head_size))

    @staticmethod
    def error_of(bits: int) -> float:
        """How far a number is off at most, as a part of its group's largest."""
        # half a step, whose size is rounded
        return 0.5 / (2 ** (bits - 1) - 1) * (1 + torch.finfo(torch.bfloat16).eps)

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes rows [n, heads, head size] of one layer to slots (int64 [n])."""
        groups = rows.float().unflatten(-1, (-1, self._group))
        scales = (groups.abs().amax(-1) / self._largest).to(torch.bfloat16)
        # a group whose numbers are all nought has no scale
        steps = scales.float().clamp(min=torch.finfo(torch.float32).tiny)
        codes = (groups / steps[..., None]).round_().clamp_(-self._largest, self._largest)
        # from 1 on: a byte holds no sign
        codes = (codes + (self._largest + 1)).to(torch.uint8).flatten(-2)
        if self._bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        self._codes[layer, slots] = codes.cpu()
        self._scales[layer, slots] = scales.cpu()

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns the rows of one layer [n, heads, head size] on a device."""
        codes, scales = (_gather(one[layer], slots, device) for one in (self._codes, self._scales))
        if self._bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), -1).flatten(-2)
        groups = (codes.float() - (self._largest + 1)).unflatten(-1, (-1, self._group))
        return (groups * scales.float()[..., None]).flatten(-2).to(self._dtype)

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """A copy of what all layers of these slots hold, by name."""
        return {"codes": self._codes[:, slots], "scales": self._scales[:, slots]}

    def load_state(self, slots: torch.Tensor, state: dict[str, torch.Tensor]) -> None:
        """Puts back what `state` gave."""
        self._codes[:, slots] = state["codes"]
        self._scales[:, slots] = state["scales"]


HostRows = PlainRows | CodedRows


def _take_memory(shape: Sequence[int], dtype: torch.dtype, *, pinned: bool) -> torch.Tensor:
    if pinned:
        return torch.empty(shape, dtype=dtype, pin_memory=True)
    # the system gives other memory when it is first written: now, so that no request waits for it
    return torch.zeros(shape, dtype=dtype)


def _gather(rows: torch.Tensor, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Returns rows[slots] on a device; to a GPU the copy goes on while the next layer is gathered."""
    if device.type == "cpu":
        return rows.index_select(0, slots)
    # what index_select makes itself is pageable, even of a pinned tensor, and its copy would be waited for
    pinned = torch.empty((len(slots), *rows.shape[1:]), dtype=rows.dtype, pin_memory=rows.is_pinned())
    return torch.index_select(rows, 0, slots, out=pinned).to(device, non_blocking=True)


def _group(bits: int, head_size: int) -> int:
    return 32 if bits == 4 and head_size % 32 == 0 else head_size
