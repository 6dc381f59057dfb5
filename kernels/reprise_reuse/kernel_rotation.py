"""Moves keys to other positions with the kernel of reprise-kernels."""

import torch

from reprise_reuse.rotation import KeyRotation


class KernelRotation(KeyRotation):
    """A `KeyRotation` that runs `rope_shift`: one pass over the keys, in their own data type."""

    def turn(self, keys: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        from reprise_kernels.rope_shift import rope_shift
        from reprise_kernels.rotary import Rotary, Turns

        rows = torch.arange(len(keys), dtype=torch.int32, device=keys.device)
        turns = Turns(*(table.flatten(1).contiguous() for table in tables))
        # of the embedding only its size and its pairs are read: the turns are given
        rotary = Rotary((0.0,) * (self._dim // 2), interleaved=not self._is_neox)
        turned = keys.clone(memory_format=torch.contiguous_format)[None]
        return rope_shift(turned, rows, rows, turns, rotary)[0]
