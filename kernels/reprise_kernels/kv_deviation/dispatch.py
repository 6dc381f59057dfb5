"""kv_deviation and value_norm: check what they are given and launch the kernel."""

import torch
import triton

from reprise_kernels.checks import check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.kv_deviation.triton import kv_deviation_kernel

BLOCK_TOKENS = 16
WARPS = 4


def kv_deviation(
    fresh: list[torch.Tensor],
    cached: list[torch.Tensor],
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    """CacheBlend's criterion, as `naive_kv_deviation` says, in float32 [B, Nmax]: of values, keys, or both.

    It orders tokens as the norm of the difference does. `select_tokens` takes the result.
    """
    if len(fresh) != len(cached) or not cached:
        raise ValueError(f"{len(fresh)} fresh tensors, {len(cached)} cached: as many of each, and one at least")
    for new, cache in zip(fresh, cached, strict=True):
        check_tensor("fresh", new, (None, *cache.shape[2:]), (cache.dtype,), cache.device)
        if new.stride(2) != 1:
            raise ValueError(f"fresh has stride {new.stride(2)} in its last dimension, it must be 1")
    check_index("cu_tokens", cu_tokens, (len(kv_len) + 1,), cached[0].device)
    return _launch(fresh, cached, cu_tokens, slot_table, kv_len)


def value_norm(cached: torch.Tensor, slot_table: torch.Tensor, kv_len: torch.Tensor) -> torch.Tensor:
    """The squared norm of each token's cached values, float32 [B, Nmax]: what deviates from nothing."""
    return _launch([], [cached], kv_len, slot_table, kv_len)


def _launch(
    fresh: list[torch.Tensor],
    cached: list[torch.Tensor],
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    check_runnable(cached[0])
    for cache in cached:
        check_cache("cached", cache, cached[0].device)
    check_index("kv_len", kv_len, (None,), cached[0].device)
    check_index("slot_table", slot_table, (len(kv_len), None), cached[0].device)
    scores = torch.zeros(slot_table.shape, dtype=torch.float32, device=slot_table.device)
    if scores.numel() == 0:
        return scores
    for kind, cache in enumerate(cached):
        new = fresh[kind] if fresh else cache
        heads, head_dim = cache.shape[2:]
        kv_deviation_kernel[(triton.cdiv(slot_table.shape[1], BLOCK_TOKENS), len(kv_len))](
            new, cache, cu_tokens, slot_table, kv_len, scores, new.stride(0), new.stride(1),
            cache.stride(1), cache.stride(2), slot_table.stride(0), scores.stride(0),
            HAS_FRESH=bool(fresh), HEADS=heads, HEAD_DIM=head_dim,
            BLOCK_T=BLOCK_TOKENS, BLOCK_D=triton.next_power_of_2(head_dim), num_warps=WARPS,
        )  # fmt: skip
    return scores
