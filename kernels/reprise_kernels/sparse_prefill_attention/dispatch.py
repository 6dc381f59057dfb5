"""Sparse prefill attention over a slot table: checks its arguments and launches the kernel."""

import math

import torch
import triton
from triton import knobs

from reprise_kernels.launch.checks import check_index, check_queries, check_tensor
from reprise_kernels.launch.launch_configs import Tile, launch_config, on_device
from reprise_kernels.sparse_prefill_attention.triton import slot_prefill_kernel

INTERPRETED = {"rows": 64, "keys": 32, "warps": 4, "stages": 2}


def choose_tile(dtype: torch.dtype, head_dim: int, group: int) -> Tile:
    """Returns the tile for these queries: large for the tensor cores, small under the interpreter."""
    precision = "ieee" if dtype == torch.float32 else "tf32"
    dim = triton.next_power_of_2(head_dim)
    if dtype != torch.float32 and dim <= 128:
        return Tile(**launch_config("sparse_prefill_attention", INTERPRETED), precision=precision, dim=dim)
    if knobs.runtime.interpret:
        return Tile(**INTERPRETED, precision=precision, dim=dim)
    # the largest tiles for which the compiler needs no stack, on both targets of COMPILED.md
    if dtype == torch.float32:
        return Tile(max(32, triton.next_power_of_2(group)), 16, 8, 2, precision, dim)
    return Tile(64, 32, 8, 2, precision, dim)


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
    tile = choose_tile(q.dtype, head_dim, group)
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
