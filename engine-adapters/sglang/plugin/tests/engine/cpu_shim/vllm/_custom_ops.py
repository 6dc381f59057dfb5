"""The rotary embedding that SGLang 0.5.23 imports from vLLM on a CPU without its AMX engine."""

import torch


def rotary_embedding(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor | None,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
) -> None:
    """Rotates the first dimensions of every head, in place."""
    cos, sin = cos_sin_cache[positions.flatten()].unsqueeze(1).chunk(2, dim=-1)
    for rotated in (query,) if key is None else (query, key):
        heads = rotated.view(positions.numel(), -1, head_size)[..., : cos_sin_cache.shape[-1]]
        # [tokens, heads, dimensions/2] each: halves in one layout, even and odd in the other
        first, second = heads.chunk(2, dim=-1) if is_neox else (heads[..., ::2], heads[..., 1::2])
        turned = first * cos - second * sin, second * cos + first * sin
        first.copy_(turned[0]), second.copy_(turned[1])
