"""sparse_decode_attention: checks its arguments and launches the kernels."""

import math

import torch
import triton

from lab_kernels.sparse_decode_attention.tiles import choose_splits, choose_tile
from lab_kernels.sparse_decode_attention.triton import combine_kernel, decode_kernel
from reprise_kernels.launch.checks import check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device


def sparse_decode_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    kv_len: torch.Tensor,
    slot_table: torch.Tensor | None = None,
    page_table: torch.Tensor | None = None,
    page_list: torch.Tensor | None = None,
    page_count: torch.Tensor | None = None,
    scale: float | None = None,
    splits: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one query per request, specified by `naive_sparse_decode_attention`; out like q, lse in float32.

    `splits`, the number of parts in which a request's keys are read, is derived from the shapes by default.
    """
    table = slot_table if page_table is None else page_table
    if table is None or (slot_table is not None and page_table is not None):
        raise ValueError("either a slot_table or a page_table says where the keys are")
    if (page_list is None) != (page_count is None):
        raise ValueError("page_list and page_count are given both, or neither to read all pages")
    _check(q, k, v, kv_len, table, page_list, page_count)
    out, lse = torch.empty_like(q), torch.empty(q.shape[:2], dtype=torch.float32, device=q.device)
    requests, heads, head_dim = q.shape
    if requests == 0:
        return out, lse
    page_size, key_heads = k.shape[1:3]
    group, paged, listed = heads // key_heads, page_table is not None, page_list is not None
    tile = choose_tile(q.dtype, head_dim, group)
    places = table.shape[1] * (page_size if paged else 1) if page_list is None else page_list.shape[1] * page_size
    splits = splits or choose_splits(requests, key_heads, places, tile.keys)
    part_out = torch.empty((requests, heads, splits, head_dim), dtype=torch.float32, device=q.device)
    part_lse = torch.empty((requests, heads, splits), dtype=torch.float32, device=q.device)
    with on_device(q):
        decode_kernel[(splits, key_heads, requests)](
            q, k, v, kv_len, table, page_list if listed else table, page_count if listed else kv_len,
            part_out, part_lse, (head_dim**-0.5 if scale is None else scale) * math.log2(math.e),
            q.stride(0), q.stride(1), k.stride(1), k.stride(2), table.shape[1], page_list.shape[1] if listed else 0,
            PAGE=page_size, PAGED=paged, LISTED=listed, SPLITS=splits, GROUP=group, HEAD_DIM=head_dim,
            BLOCK_D=tile.dim, BLOCK_M=tile.rows, BLOCK_N=tile.keys, PRECISION=tile.precision,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        combine_kernel[(requests, heads)](
            part_out, part_lse, out, lse, out.stride(0), out.stride(1),
            SPLITS=splits, BLOCK_S=triton.next_power_of_2(splits), HEAD_DIM=head_dim, BLOCK_D=tile.dim, num_warps=4,
        )  # fmt: skip
    return out, lse


def _check(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    kv_len: torch.Tensor,
    table: torch.Tensor,
    page_list: torch.Tensor | None,
    page_count: torch.Tensor | None,
) -> None:
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
    check_index("kv_len", kv_len, (len(q),), q.device)
    check_index("the table", table, (len(q), None), q.device)
    if page_list is not None and page_count is not None:
        check_index("page_list", page_list, (len(q), None), q.device)
        check_index("page_count", page_count, (len(q),), q.device)
