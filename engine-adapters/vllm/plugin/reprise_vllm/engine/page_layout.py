"""Reads the engine's cache pages, whatever their layout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reprise_reuse.rows.engine_parts import InPlace

_DIGITS = {False: (128, 4), True: (8, 11)}
"""whether pages hold fp8: base and number of the digits by which places are written; fp8 holds 0 to 8 exactly"""


class PageLayout:
    """
    Where a token's keys and values are within a block (`reprise_reuse.rows.engine_parts.Layout`), found by probing.

    Backends differ: the CPU backend packs keys, GPU backends order dimensions differently, and all change between
    releases. So the backend's own `do_kv_cache_update` writes known numbers into a scratch block, which is searched.
    """

    def __init__(
        self, layer: Any, cache: torch.Tensor, blocks: int, block_size: int, computed: torch.dtype | None = None
    ) -> None:
        """layer: an attention layer; cache: its pages, `blocks` blocks of `block_size` tokens; computed: what keys and
        values are computed in, if pages hold fp8."""
        self.block_size = block_size
        self._format = fp8_of(layer)
        self.computed = cache.dtype if self._format is None else computed
        """the data type of the rows that are read and written"""
        self._layers = {cache.data_ptr(): layer}
        self._block_dim = _find_block_dim(cache, blocks)
        heads, size = layer.num_kv_heads, layer.head_size
        count = block_size * heads * size
        base, places = _DIGITS[self._format is not None]
        digits = []
        for place in range(places):
            numbers = (torch.arange(1, 2 * count + 1, device=cache.device) // base**place) % base
            halves = zip(numbers.view(2, block_size, heads, size), scales_of(layer), strict=True)
            digits.append(self._written(layer, cache, *((half * scale).to(self.computed) for half, scale in halves)))
        found = sum(digit * base**place for place, digit in enumerate(digits)) - 1
        if len(found) != 2 * count or not torch.equal(
            found.sort().values, torch.arange(2 * count, device=found.device)
        ):
            raise ValueError("a block holds something else than its tokens' keys and values")
        where = torch.empty_like(found)
        where[found] = torch.arange(2 * count, device=found.device)
        # as offsets in the cache itself, whose blocks need not be contiguous
        block = cache.movedim(self._block_dim, 0)[0]
        places = sum(
            index * stride
            for index, stride in zip(torch.unravel_index(where, block.shape), block.stride(), strict=True)
        )
        self._keys, self._values = (_Half(at.view(block_size, heads, size)) for at in places.view(2, count))

    @property
    def rounding(self) -> float:
        """How far a number in the pages may be from the one computed, relative to it: with fp8 a step.

        GPUs round to the nearest; vLLM's build for CPUs cuts off.
        """
        return 0.0 if self._format is None else torch.finfo(self._format).eps

    def know(self, layers: Sequence[Any], caches: Sequence[torch.Tensor]) -> None:
        """Tells whose pages these are: layers have scales of fp8 of their own, which change when weights are loaded."""
        self._layers.update((cache.data_ptr(), one) for one, cache in zip(layers, caches, strict=True))

    def read(
        self, cache: torch.Tensor, blocks: torch.Tensor, begin: int, end: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        first, last = begin // self.block_size, -(-end // self.block_size)
        cut = slice(begin - first * self.block_size, end - first * self.block_size)
        by_block, used = cache.movedim(self._block_dim, 0), blocks[first:last]
        return self._decoded(cache, self._keys.rows(by_block, used)[cut], self._values.rows(by_block, used)[cut])

    def keys_of(self, cache: torch.Tensor, blocks: torch.Tensor) -> torch.Tensor:
        """Returns the keys [n, block size, heads, head size] of whole blocks (int64 [n]), in the cache's own order."""
        return self._keys.of_blocks(cache.movedim(self._block_dim, 0), blocks)

    def keys_of_slots(self, cache: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        at = slots // self.block_size, slots % self.block_size
        return self._keys.of_slots(cache.movedim(self._block_dim, 0), *at)

    def read_slots(self, cache: torch.Tensor, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        by_block = cache.movedim(self._block_dim, 0)
        at = slots // self.block_size, slots % self.block_size
        return self._decoded(cache, self._keys.of_slots(by_block, *at), self._values.of_slots(by_block, *at))

    def in_place(self, cache: torch.Tensor) -> InPlace:
        return self._keys.beside(self._values, cache.movedim(self._block_dim, 0), self.block_size)

    def places(self, slots: np.ndarray, span: int) -> np.ndarray:
        return slots // self.block_size * span + slots % self.block_size

    def _decoded(
        self, cache: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self._format is None:
            return keys, values
        key_scale, value_scale = scales_of(self._layers[cache.data_ptr()])
        keys, values = (one.view(self._format).float() for one in (keys, values))
        return (keys * key_scale).to(self.computed), (values * value_scale).to(self.computed)

    def _written(self, layer: Any, cache: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        shape = list(cache.shape)
        shape[self._block_dim] = 2
        scratch = torch.zeros(shape, dtype=cache.dtype, device=cache.device)
        slots = torch.arange(self.block_size, device=cache.device) + self.block_size
        layer.impl.do_kv_cache_update(layer, keys.contiguous(), values.contiguous(), scratch, slots)
        written = scratch.movedim(self._block_dim, 0)[1].flatten()
        return written.long() if self._format is None else written.view(self._format).float().long()


def fp8_of(layer: Any) -> torch.dtype | None:
    """Returns the format of a layer's pages if that is fp8; None if they hold the numbers that are computed."""
    name = getattr(layer, "kv_cache_dtype", "auto")
    if not name.startswith("fp8"):
        return None
    from vllm.platforms import current_platform

    return torch.float8_e5m2 if name.endswith("e5m2") else current_platform.fp8_dtype()


def scales_of(layer: Any) -> tuple[float, float]:
    """Returns what the numbers in a layer's pages are multiplied by to give keys, and values: 1 without fp8."""
    return (1.0, 1.0) if fp8_of(layer) is None else (layer._k_scale_float, layer._v_scale_float)


class _Half:
    """Where keys, or values, are within a block: as strides if they are regular, else one by one."""

    def __init__(self, at: torch.Tensor) -> None:
        """at  int64 [block size, heads, head size]: each number's offset from the start of its block"""
        self._at = at
        self._offset = int(at[0, 0, 0])
        self._strides = tuple(
            int(at.select(dim, 1)[0, 0]) - self._offset if at.shape[dim] > 1 else 0 for dim in range(at.dim())
        )
        steps = [torch.arange(n, device=at.device) * step for n, step in zip(at.shape, self._strides, strict=True)]
        regular = self._offset + steps[0][:, None, None] + steps[1][:, None] + steps[2]
        self._is_regular = torch.equal(regular, at)

    def of_blocks(self, cache: torch.Tensor, blocks: torch.Tensor) -> torch.Tensor:
        """Returns the numbers [n, block size, heads, head size] of these blocks (int64 [n]) of a cache [blocks, …]."""
        if not self._is_regular:
            return _flat(cache)[(blocks * cache.stride(0))[:, None, None, None] + self._at]
        # copied in memory order: without a transposition, and without touching the other half
        order = sorted(range(3), key=lambda dim: -self._strides[dim])
        whole = self._view(cache).permute(0, *(dim + 1 for dim in order))
        return whole.index_select(0, blocks).permute(0, *(order.index(dim) + 1 for dim in range(3)))

    def rows(self, cache: torch.Tensor, blocks: torch.Tensor) -> torch.Tensor:
        """Returns the rows [n x block size, heads, head size] of these blocks (int64 [n]), contiguous per head."""
        of_head = self.of_blocks(cache, blocks).permute(2, 0, 1, 3)
        if self._strides[0] < self._strides[2]:
            return of_head.permute(0, 3, 1, 2).flatten(2).permute(2, 0, 1)
        return of_head.flatten(1, 2).transpose(0, 1)

    def of_slots(self, cache: torch.Tensor, blocks: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """Returns the rows [n, heads, head size] at these offsets in these blocks (int64 [n] each), contiguous."""
        if self._is_regular:
            return self._view(cache)[blocks, offsets]
        return _flat(cache)[(blocks * cache.stride(0))[:, None, None] + self._at[offsets]]

    def beside(self, values: "_Half", cache: torch.Tensor, block_size: int) -> InPlace:
        """Implements `PageLayout.in_place` for the half that holds keys."""
        step = self._strides[0]
        is_even = self._is_regular and values._is_regular and self._strides == values._strides
        if not is_even or self._strides[2] != 1 or step == 0 or cache.stride(0) % step:
            raise ValueError("its rows are not evenly spaced in the pages")
        span = cache.stride(0) // step
        shape = (1, (len(cache) - 1) * span + block_size, *self._at.shape[1:])
        strides = (shape[1] * step, *self._strides)
        keys, values = (
            cache.as_strided(shape, strides, cache.storage_offset() + half._offset) for half in (self, values)
        )
        return InPlace(keys, values, span)

    def _view(self, cache: torch.Tensor) -> torch.Tensor:
        """Returns a view of this half [blocks, block size, heads, head size]."""
        shape, strides = (len(cache), *self._at.shape), (cache.stride(0), *self._strides)
        return cache.as_strided(shape, strides, cache.storage_offset() + self._offset)


def _flat(cache: torch.Tensor) -> torch.Tensor:
    """Returns a flat view of all numbers of a cache, in memory order."""
    last = sum((n - 1) * stride for n, stride in zip(cache.shape, cache.stride(), strict=True))
    return cache.as_strided((last + 1,), (1,), cache.storage_offset())


def _find_block_dim(cache: torch.Tensor, blocks: int) -> int:
    for dim in (0, 1):
        if cache.shape[dim] == blocks and (dim == 0 or cache.shape[0] == 2):
            return dim
    raise ValueError(f"of a cache of shape {tuple(cache.shape)} no leading dimension counts its {blocks} blocks")
