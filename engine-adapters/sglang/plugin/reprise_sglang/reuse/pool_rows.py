"""SGLang's pool of keys and values, as the rows of loads use it: every slot is a block of one token."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reprise_reuse.rows.engine_parts import InPlace


class LayerPages:
    """The slots of one layer."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """keys, values: [slots, heads, head size] each"""
        self.keys, self.values = keys, values
        self.device, self.dtype, self.shape = keys.device, keys.dtype, keys.shape

    def stride(self) -> tuple[int, ...]:
        return self.keys.stride()


class PoolLayout:
    """Reads slots (`reprise_reuse.rows.engine_parts.Layout`)."""

    block_size = 1
    rounding = 0.0
    """slots hold the numbers that are computed"""

    def read(self, cache: LayerPages, blocks: torch.Tensor, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.read_slots(cache, blocks[begin:end])

    def keys_of_slots(self, cache: LayerPages, slots: torch.Tensor) -> torch.Tensor:
        return cache.keys.index_select(0, slots)

    def read_slots(self, cache: LayerPages, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return cache.keys.index_select(0, slots), cache.values.index_select(0, slots)

    def in_place(self, cache: LayerPages) -> InPlace:
        if cache.keys.stride() != cache.values.stride() or cache.keys.shape != cache.values.shape:
            raise ValueError("keys and values are not laid out alike")
        return InPlace(cache.keys[None], cache.values[None], 1)

    def places(self, slots: np.ndarray, span: int) -> np.ndarray:
        return slots


class PoolLayer:
    """What writes rows, by the interface of vLLM's layers, which stored rows are written by."""

    def __init__(self, attention: Any) -> None:
        """attention: one of the model's attention layers, all of which have the same shape"""
        self.num_heads, self.num_kv_heads = attention.tp_q_head_num, attention.tp_k_head_num
        self.head_size = attention.head_dim
        self.impl = self

    def do_kv_cache_update(
        self, layer: "PoolLayer", keys: torch.Tensor, values: torch.Tensor, cache: LayerPages, slots: torch.Tensor
    ) -> None:
        cache.keys.index_copy_(0, slots, keys.to(cache.dtype))
        cache.values.index_copy_(0, slots, values.to(cache.dtype))


def pages_of(pool: Any, layers: Sequence[int]) -> list[LayerPages]:
    """Returns the slots of each layer of an `MHATokenToKVPool`."""
    return [LayerPages(pool.get_key_buffer(layer), pool.get_value_buffer(layer)) for layer in layers]
