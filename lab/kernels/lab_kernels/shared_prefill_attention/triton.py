"""The Triton kernels for the paper's layout: shared pages with stale tokens masked, plus a request's own pages."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.attention_tile import attend, finish
from reprise_kernels.device_functions.wide import wide
from reprise_kernels.sparse_prefill_attention.query_tile import find_request, rows_of_tile, store_rows


@triton.jit
def mark_stale_kernel(OwnPos, Stale, places, positions, stride_pos, stride_stale, BLOCK: tl.constexpr):
    """Sets bit p % 32 of word p // 32 for every position p of request program_id(1) that is in its own pages."""
    request = tl.program_id(1).to(tl.int64)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    position = tl.load(OwnPos + request * stride_pos + place, mask=place < places, other=-1)
    shared = (position >= 0) & (position < positions)
    bit = tl.full((BLOCK,), 1, tl.int32) << (position % 32)
    tl.atomic_or(Stale + request * stride_stale + position // 32, bit, mask=shared)


@triton.jit
def _load_pages(K, V, Table, places, wanted, head, page_stride, stride_head, PAGE: tl.constexpr, slot_stride,
                HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr):  # fmt: skip
    """Returns k and v [N, D] at these places of a page table's row, and which of the wanted places have a page."""
    d = tl.arange(0, BLOCK_D)
    page = tl.load(Table + places // PAGE, mask=wanted, other=-1).to(tl.int64)
    present = wanted & (page >= 0)
    place = (page * page_stride + places % PAGE * slot_stride)[:, None] + head * stride_head + d[None, :]
    real = present[:, None] & (d < HEAD_DIM)[None, :]
    return tl.load(K + place, mask=real, other=0.0), tl.load(V + place, mask=real, other=0.0), present


@triton.jit
def shared_prefill_kernel(
    Q, QPos, CuQ, K, V, SharedTable, SharedLen, OwnTable, OwnPos, Stale, Out, Lse, requests, places, scale,
    stride_q_token, stride_q_head, stride_slot, stride_head, stride_shared, stride_own, stride_pos, stride_stale,
    stride_out_token, stride_out_head, stride_lse_token,
    PAGE: tl.constexpr, GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_B: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: BLOCK_Q query tokens of one request; first the shared pages, then the request's own."""
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    key_head = wide(tl.program_id(1))
    request, first_row, local = find_request(CuQ, tile, requests, BLOCK_B, BLOCK_Q)
    if first_row + local * BLOCK_Q >= tl.load(CuQ + request + 1):
        return
    token, position, live = rows_of_tile(CuQ, QPos, request, first_row, local, GROUP, BLOCK_M, BLOCK_Q)
    head = key_head * GROUP + tl.arange(0, BLOCK_M) % GROUP
    d = tl.arange(0, BLOCK_D)
    row = token.to(tl.int64)[:, None] * stride_q_token + head[:, None] * stride_q_head + d[None, :]
    q = tl.load(Q + row, mask=live[:, None] & (d < HEAD_DIM)[None, :], other=0.0)

    b = request.to(tl.int64)
    # tables are contiguous, so a row's stride is also its length
    shared_len = tl.minimum(tl.load(SharedLen + request), stride_shared * PAGE)
    end = tl.minimum(tl.max(position, 0) + 1, shared_len)
    n = tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in tl.range(0, end, BLOCK_N):
        where = start + n
        stale = tl.load(Stale + b * stride_stale + where // 32, mask=where < end, other=0) >> (where % 32) & 1
        fresh = (where < end) & (stale == 0)
        k, v, present = _load_pages(K, V, SharedTable + b * stride_shared, where, fresh, key_head,
                                    PAGE * stride_slot, stride_head, PAGE, stride_slot, HEAD_DIM, BLOCK_D)  # fmt: skip
        seen = present[None, :] & (where[None, :] <= position[:, None])
        acc, highest, total = attend(acc, highest, total, q, k, v, seen, scale, True, PRECISION)
    for start in tl.range(0, places, BLOCK_N):
        where = start + n
        own = tl.load(OwnPos + b * stride_pos + where, mask=where < places, other=-1)
        k, v, present = _load_pages(K, V, OwnTable + b * stride_own, where, own >= 0, key_head,
                                    PAGE * stride_slot, stride_head, PAGE, stride_slot, HEAD_DIM, BLOCK_D)  # fmt: skip
        seen = present[None, :] & (own[None, :] <= position[:, None])
        acc, highest, total = attend(acc, highest, total, q, k, v, seen, scale, True, PRECISION)
    out, lse = finish(acc, highest, total)
    store_rows(Out, Lse, out, lse, token, head, live, stride_out_token, stride_out_head, stride_lse_token,
               HEAD_DIM, BLOCK_D)  # fmt: skip
