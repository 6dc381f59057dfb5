"""Sparse prefill attention over a slot table: checks its arguments and launches the kernel."""

import math

import torch
import triton

from reprise_kernels.launch.checks import check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.launch.on_device import on_device
from reprise_kernels.sparse_prefill_attention.tiles import choose_tile
from reprise_kernels.sparse_prefill_attention.triton import slot_prefill_kernel


def sparse_prefill_attention(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    scale: float | None = None,
    own: tuple[torch.Tensor, torch.Tensor] | None = None,
    out: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention by true position, specified by `naive_sparse_prefill_attention`; out like q, lse in float32.

    Positions may be in any order; if they ascend, most tiles and masks are skipped. Every position below kv_len must
    have a slot. With `out`, the output is written there in one launch, and what rows after the last request get is
    undefined; without it, they get 0 and -inf.
    """
    check_queries(q, q_pos, cu_q, k, v)
    if own is not None:
        _check_own(q, own, k)
    check_index("slot_table", slot_table, (len(cu_q) - 1, None), q.device)
    check_index("kv_len", kv_len, (len(cu_q) - 1,), q.device)
    if out is None:
        # no program visits rows after the last request, which pad a captured graph
        out, lse = torch.zeros_like(q), torch.full(q.shape[:2], -math.inf, dtype=torch.float32, device=q.device)
    else:
        check_tensor("out", out, tuple(q.shape), (q.dtype,), q.device)
        lse = torch.empty(q.shape[:2], dtype=torch.float32, device=q.device)
    if len(q) == 0:
        return out, lse
    head_dim, group = q.shape[2], q.shape[1] // k.shape[2]
    tile = choose_tile(q.dtype, head_dim, group, "slots")
    scale = (head_dim**-0.5 if scale is None else scale) * math.log2(math.e)
    strides = (q.stride(0), q.stride(1), k.stride(1), k.stride(2), slot_table.shape[1])
    ends = (out.stride(0), out.stride(1), lse.stride(0))
    sizes = {
        "GROUP": group, "HEAD_DIM": head_dim, "BLOCK_B": triton.next_power_of_2(len(kv_len)), "BLOCK_M": tile.rows,
        "BLOCK_Q": tile.tokens(group), "PRECISION": tile.precision, "num_warps": tile.warps, "num_stages": tile.stages,
    }  # fmt: skip
    grid = (len(q) // tile.tokens(group) + len(kv_len), k.shape[2])
    own_k, own_v = own or (k, v)
    with on_device(q):
        slot_prefill_kernel[grid](
            q, q_pos, cu_q, k, v, slot_table, kv_len, own_k, own_v, out, lse, len(kv_len), scale, *strides,
            *own_k.stride()[-3:-1], *ends, BLOCK_D=tile.dim, BLOCK_N=tile.keys, OWN=own is not None, **sizes,
        )  # fmt: skip
    return out, lse


def _check_own(q: torch.Tensor, own: tuple[torch.Tensor, torch.Tensor], k: torch.Tensor) -> None:
    for name, one in zip(("the queries' own keys", "the queries' own values"), own, strict=True):
        check_tensor(name, one, (len(q), *k.shape[2:]), (k.dtype,), q.device)
        if one.stride() != own[0].stride() or one.stride(2) != 1:
            raise ValueError(f"{name} have strides {one.stride()}: both must agree, with 1 in the last dimension")


def check_queries(q: torch.Tensor, q_pos: torch.Tensor, cu_q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    """Raises ValueError unless queries and caches match."""
    check_runnable(q)
    check_cache("k", k, q.device)
    check_tensor("v", v, k.shape, (k.dtype,), q.device)
    check_tensor("q", q, (None, None, k.shape[3]), (k.dtype,))
    if q.stride(2) != 1:
        raise ValueError(f"q has stride {q.stride(2)} in its last dimension, it must be 1")
    if v.stride() != k.stride():
        raise ValueError(f"k has strides {k.stride()} and v {v.stride()}: they must agree")
    if q.shape[1] % k.shape[2] or not 1 <= q.shape[1] // k.shape[2] <= 64:
        raise ValueError(f"q has {q.shape[1]} heads, k has {k.shape[2]}: at most 64 whole query heads go to a key head")
    check_index("q_pos", q_pos, (len(q),), q.device)
    check_index("cu_q", cu_q, (None,), q.device)
    if len(cu_q) < 2:
        raise ValueError("cu_q has no request: it is [requests + 1]")
