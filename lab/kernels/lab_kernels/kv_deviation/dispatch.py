"""kv_deviation and value_norm: check their arguments and launch the kernel."""

import torch
import triton

from lab_kernels.kv_deviation.triton import kv_deviation_kernel
from lab_kernels.launch.launch_spaces import launch_config
from reprise_kernels.launch.checks import check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device

INTERPRETED = {"tokens": 16, "warps": 4}


def kv_deviation(
    fresh: list[torch.Tensor],
    cached: list[torch.Tensor],
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    """CacheBlend's criterion, as specified by `naive_kv_deviation`, in float32 [B, Nmax]: for values, keys, or both.

    Ranks tokens like the norm of the difference. `select_tokens` takes the result.
    """
    check_fresh(fresh, cached, cu_tokens, kv_len)
    return launch(fresh, cached, cu_tokens, slot_table, kv_len)


def value_norm(cached: torch.Tensor, slot_table: torch.Tensor, kv_len: torch.Tensor) -> torch.Tensor:
    """The squared norm of each token's cached values, float32 [B, Nmax]: the deviation from zero."""
    return launch([], [cached], kv_len, slot_table, kv_len)


def check_fresh(
    fresh: list[torch.Tensor], cached: list[torch.Tensor], cu_tokens: torch.Tensor, kv_len: torch.Tensor
) -> None:
    """Raises ValueError unless fresh and cached keys or values match."""
    if len(fresh) != len(cached) or not cached:
        raise ValueError(f"{len(fresh)} fresh tensors, {len(cached)} cached: as many of each, and one at least")
    for new, cache in zip(fresh, cached, strict=True):
        check_tensor("fresh", new, (None, *cache.shape[2:]), (cache.dtype,), cache.device)
        if new.stride(2) != 1:
            raise ValueError(f"fresh has stride {new.stride(2)} in its last dimension, it must be 1")
    check_index("cu_tokens", cu_tokens, (len(kv_len) + 1,), cached[0].device)


def launch(
    fresh: list[torch.Tensor],
    cached: list[torch.Tensor],
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    weights: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> torch.Tensor:
    """Checks the cache and launches the kernel; `weights` are for fresh and cached rows, as wide as slot_table."""
    check_runnable(cached[0])
    for cache in cached:
        check_cache("cached", cache, cached[0].device)
    check_index("kv_len", kv_len, (None,), cached[0].device)
    check_index("slot_table", slot_table, (len(kv_len), None), cached[0].device)
    scores = torch.zeros(slot_table.shape, dtype=torch.float32, device=slot_table.device)
    if scores.numel() == 0:
        return scores
    of_fresh, of_stale = weights or (scores, scores)
    config = launch_config("kv_deviation", INTERPRETED)
    for kind, cache in enumerate(cached):
        new = fresh[kind] if fresh else cache
        heads, head_dim = cache.shape[2:]
        with on_device(scores):
            kv_deviation_kernel[(triton.cdiv(slot_table.shape[1], config["tokens"]), len(kv_len))](
                new, cache, of_fresh, of_stale, cu_tokens, slot_table, kv_len, scores, new.stride(0), new.stride(1),
                cache.stride(1), cache.stride(2), of_fresh.stride(0), slot_table.shape[1], scores.stride(0),
                HAS_FRESH=bool(fresh), WEIGHTED=weights is not None, HEADS=heads, HEAD_DIM=head_dim,
                BLOCK_T=config["tokens"], BLOCK_D=triton.next_power_of_2(head_dim), num_warps=config["warps"],
            )  # fmt: skip
    return scores
