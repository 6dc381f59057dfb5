"""Sparse prefill attention over shared and exclusive pages: checks its arguments and launches the kernels."""

import math

import torch
import triton

from lab_kernels.shared_prefill_attention.triton import mark_stale_kernel, shared_prefill_kernel
from reprise_kernels.launch.checks import check_index, check_queries
from reprise_kernels.launch.launch_configs import on_device
from reprise_kernels.sparse_prefill_attention.dispatch import choose_tile

MARK_BLOCK = 128


def shared_prefill_attention(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    shared_table: torch.Tensor,
    shared_len: torch.Tensor,
    own_table: torch.Tensor,
    own_pos: torch.Tensor,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention by true position in the paper's layout, as specified by `naive_shared_prefill_attention`.

    The reference for `sparse_prefill_attention`, which needs no mask and never reads stale tokens.
    """
    check_queries(q, q_pos, cu_q, k, v)
    requests, page_size = len(cu_q) - 1, k.shape[1]
    check_index("shared_table", shared_table, (requests, None), q.device)
    check_index("shared_len", shared_len, (requests,), q.device)
    check_index("own_table", own_table, (requests, None), q.device)
    check_index("own_pos", own_pos, (requests, own_table.shape[1] * page_size), q.device)
    # no program visits rows after the last request, which pad a captured graph
    out, lse = torch.zeros_like(q), torch.full(q.shape[:2], -math.inf, dtype=torch.float32, device=q.device)
    if len(q) == 0:
        return out, lse
    stale = _mark_stale(own_pos, shared_table.shape[1] * page_size)
    head_dim, group = q.shape[2], q.shape[1] // k.shape[2]
    tile = choose_tile(q.dtype, head_dim, group)
    with on_device(q):
        shared_prefill_kernel[(len(q) // tile.tokens(group) + requests, k.shape[2])](
            q, q_pos, cu_q, k, v, shared_table, shared_len, own_table, own_pos, stale, out, lse, requests,
            own_pos.shape[1], (head_dim**-0.5 if scale is None else scale) * math.log2(math.e),
            q.stride(0), q.stride(1), k.stride(1), k.stride(2), shared_table.shape[1], own_table.shape[1],
            own_pos.shape[1], stale.stride(0), out.stride(0), out.stride(1), lse.stride(0),
            PAGE=page_size, GROUP=group, HEAD_DIM=head_dim, BLOCK_D=tile.dim, BLOCK_B=triton.next_power_of_2(requests),
            BLOCK_M=tile.rows, BLOCK_Q=tile.tokens(group), BLOCK_N=tile.keys, PRECISION=tile.precision,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
    return out, lse


def _mark_stale(own_pos: torch.Tensor, positions: int) -> torch.Tensor:
    """One bit per shared position, set if the token has been recomputed: int32 [B, positions / 32]."""
    requests, places = own_pos.shape
    stale = torch.zeros((requests, max(triton.cdiv(positions, 32), 1)), dtype=torch.int32, device=own_pos.device)
    if places:
        with on_device(own_pos):
            mark_stale_kernel[(triton.cdiv(places, MARK_BLOCK), requests)](
                own_pos, stale, places, positions, places, stale.stride(0), BLOCK=MARK_BLOCK
            )
    return stale
