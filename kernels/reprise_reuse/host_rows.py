"""Layouts for rows of keys or values in host memory: as in the pages, in eight bits, or in four."""

from collections.abc import Sequence

import torch

from reprise_reuse.device import Uses


class _Rows:
    """Tensors [layers, slots, …] in host memory, by the names under which they are kept on disk."""

    reached: torch.Tensor | None = None
    """rows [layers, slots, heads, head size] that kernels reach where they are"""

    def __init__(self, **kept: torch.Tensor) -> None:
        self._kept = kept
        self.uses = Uses()

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """Returns a copy of these slots' contents in all layers, by name."""
        self.uses.wait_to_read()
        return {name: one[:, slots] for name, one in self._kept.items()}

    def load_state(self, slots: torch.Tensor, state: dict[str, torch.Tensor]) -> None:
        """Restores what `state` returned."""
        self.uses.wait_to_write()
        for name, one in self._kept.items():
            one[:, slots] = state[name]


class PlainRows(_Rows):
    """Rows [layers, slots, heads, head size] in the data type of the pages: `get` returns exactly what was put."""

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        """pinned: a GPU reads and writes the rows itself, if it can."""
        self._rows = _take_memory(shape, dtype, pinned=pinned)
        super().__init__(rows=self._rows)
        if pinned and shape[1] > 0 and _kernels_reach(self._rows[0]):
            self.reached = self._rows

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes one layer's rows [n, heads, head size] to slots (int64 [n], each at most once)."""
        if self.reached is not None and rows.device.type == "cuda":
            from reprise_kernels.kv_copy import rows_to_host

            with self.uses.writing(rows.device):
                rows_to_host(rows.to(self._rows.dtype).contiguous(), self._rows[layer], _places(slots, rows.device))
            return
        self.uses.wait_to_write()
        self._rows[layer, slots] = rows.to("cpu", self._rows.dtype)

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns one layer's rows [n, heads, head size] on a device."""
        if self.reached is not None and device.type == "cuda":
            from reprise_kernels.kv_copy import rows_to_device

            with self.uses.reading(device):
                return rows_to_device(self._rows[layer], _places(slots, device))
        self.uses.wait_to_read()
        return _gather(self._rows[layer], slots, device)


class CodedRows(_Rows):
    """
    Rows as integers of few bits, with one scale per group of numbers of a token, layer and head.

    With eight bits a group is a head: a number is off by at most 1/252 of the largest in its head, and a row of 64
    numbers takes 66 bytes, against 128 in half precision and 256 in single. With four bits a group is 32 numbers: a
    number is off by at most 1/13 of the largest in its group, and a row of 64 takes 36 bytes.
    """

    def __init__(self, bits: int, shape: tuple[int, int, int, int], dtype: torch.dtype, *, pinned: bool) -> None:
        """bits: 8 or 4; dtype: type of the rows that `get` returns"""
        *slots, head_size = shape
        self._bits, self._dtype = bits, dtype
        self._group = _group(bits, head_size)
        self._largest = 2 ** (bits - 1) - 1
        self._codes = _take_memory((*slots, head_size * bits // 8), torch.uint8, pinned=pinned)
        self._scales = _take_memory((*slots, head_size // self._group), torch.bfloat16, pinned=pinned)
        super().__init__(codes=self._codes, scales=self._scales)

    @staticmethod
    def bytes_of(bits: int, head_size: int) -> int:
        """Bytes per row of one head."""
        return head_size * bits // 8 + 2 * (head_size // _group(bits, head_size))

    @staticmethod
    def error_of(bits: int) -> float:
        """The largest error of a number, relative to the largest number in its group."""
        # half a step, whose size is itself rounded
        return 0.5 / (2 ** (bits - 1) - 1) * (1 + torch.finfo(torch.bfloat16).eps)

    def put(self, layer: int, slots: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes one layer's rows [n, heads, head size] to slots (int64 [n])."""
        groups = rows.float().unflatten(-1, (-1, self._group))
        scales = (groups.abs().amax(-1) / self._largest).to(torch.bfloat16)
        # a group of zeros has no scale
        steps = scales.float().clamp(min=torch.finfo(torch.float32).tiny)
        codes = (groups / steps[..., None]).round_().clamp_(-self._largest, self._largest)
        # codes start at 1: a byte has no sign
        codes = (codes + (self._largest + 1)).to(torch.uint8).flatten(-2)
        if self._bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        self._codes[layer, slots] = codes.cpu()
        self._scales[layer, slots] = scales.cpu()

    def get(self, layer: int, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Returns one layer's rows [n, heads, head size] on a device."""
        codes, scales = (_gather(one[layer], slots, device) for one in (self._codes, self._scales))
        if self._bits == 4:
            codes = torch.stack((codes & 15, codes >> 4), -1).flatten(-2)
        groups = (codes.float() - (self._largest + 1)).unflatten(-1, (-1, self._group))
        return (groups * scales.float()[..., None]).flatten(-2).to(self._dtype)


HostRows = PlainRows | CodedRows


def _take_memory(shape: Sequence[int], dtype: torch.dtype, *, pinned: bool) -> torch.Tensor:
    if pinned:
        return torch.empty(shape, dtype=dtype, pin_memory=True)
    # the system commits memory on the first write: write now, so that no request waits for it
    return torch.zeros(shape, dtype=dtype)


def _kernels_reach(rows: torch.Tensor) -> bool:
    """Whether kernels of reprise-kernels write and read this pinned memory [slots, heads, head size] from a GPU."""
    try:
        from reprise_kernels.kv_copy import rows_to_device, rows_to_host

        slots = torch.zeros(1, dtype=torch.int32, device="cuda")
        sample = torch.randn(1, *rows.shape[1:], device="cuda").to(rows.dtype)
        rows_to_host(sample, rows, slots)
        return torch.equal(rows_to_device(rows, slots), sample) and torch.equal(rows[:1], sample.cpu())
    except Exception:
        # without Triton, or with rows that are no whole pieces of 16 bytes, torch copies
        return False


def _places(slots: torch.Tensor, device: torch.device) -> torch.Tensor:
    return slots.int().to(device, non_blocking=True)


def _gather(rows: torch.Tensor, slots: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Returns rows[slots] on a device; the copy to a GPU runs while the next layer is gathered."""
    if device.type == "cpu":
        return rows.index_select(0, slots)
    # index_select allocates pageable memory even for a pinned tensor, and the host would wait for its copy
    pinned = torch.empty((len(slots), *rows.shape[1:]), dtype=rows.dtype, pin_memory=rows.is_pinned())
    return torch.index_select(rows, 0, slots, out=pinned).to(device, non_blocking=True)


def _group(bits: int, head_size: int) -> int:
    return 32 if bits == 4 and head_size % 32 == 0 else head_size
