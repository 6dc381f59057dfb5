"""Rotates keys with the engine's own operation."""

from collections.abc import Sequence

import torch
from vllm import _custom_ops

from reprise_reuse.rotation import KeyRotation
from reprise_vllm.engine.model_parts import Rotary


class EngineRotation(KeyRotation):
    """
    A `KeyRotation` that reads and writes each number only once.

    vLLM's rotary embedding looks up a row of cosines and sines by position. If every key gets a row of its own, it
    rotates keys by any distance.
    """

    def turn(self, keys: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        if not hasattr(torch.ops._C, "rotary_embedding"):
            return super().turn(keys, tables)
        turned = keys.to(torch.float32, copy=True, memory_format=torch.contiguous_format)
        rows = torch.arange(len(keys), device=keys.device)
        cos_sin = torch.cat(tables, -1).flatten(1)
        _custom_ops.rotary_embedding(rows, turned.flatten(1), None, keys.shape[-1], cos_sin, self.is_neox)
        return turned.to(keys.dtype)


def rotation_of(rotaries: Sequence[Rotary], kind: type[KeyRotation], device: torch.device) -> KeyRotation:
    """Returns what turns each layer's keys, by operations of that kind; all of them pair dimensions alike."""
    first = {id(one): one for one in rotaries}
    of_layers = [list(first).index(id(one)) for one in rotaries]
    return kind(*(one.cos_sin.to(device) for one in first.values()), is_neox=rotaries[0].is_neox, of_layers=of_layers)
