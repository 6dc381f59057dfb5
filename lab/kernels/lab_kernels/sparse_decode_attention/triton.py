"""The Triton kernels of sparse_decode_attention: each program reads a split of the keys, then one combines them."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.attention_tile import attend, finish
from reprise_kernels.device_functions.wide import wide


@triton.jit
def _slots_of(Table, List, place, places, kv_len, PAGE: tl.constexpr, PAGED: tl.constexpr, LISTED: tl.constexpr):
    """The slot of each of the request's places to read, and whether it holds a token."""
    wanted, position = place < places, place
    if LISTED:
        page = tl.load(List + place // PAGE, mask=wanted, other=-1)
        position = page * PAGE + place % PAGE
        wanted = wanted & (page >= 0) & (position < kv_len)
    if PAGED:
        page = tl.load(Table + position // PAGE, mask=wanted, other=0).to(tl.int64)
        return page * PAGE + position % PAGE, wanted
    return tl.load(Table + position, mask=wanted, other=0).to(tl.int64), wanted


@triton.jit
def decode_kernel(
    Q, K, V, KvLen, Table, List, Count, PartOut, PartLse, scale,
    stride_q_token, stride_q_head, stride_slot, stride_head, stride_table, stride_list,
    PAGE: tl.constexpr, PAGED: tl.constexpr, LISTED: tl.constexpr, SPLITS: tl.constexpr,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: one of the SPLITS parts of a request's keys, for the query heads of one key head."""
    split, key_head, request = tl.program_id(0), wide(tl.program_id(1)), wide(tl.program_id(2))
    row = tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    head = key_head * GROUP + row
    real = (row < GROUP)[:, None] & (d < HEAD_DIM)[None, :]
    q = tl.load(Q + request * stride_q_token + head[:, None] * stride_q_head + d[None, :], mask=real, other=0.0)

    # tables are contiguous, so a row's stride is also its length
    kv_len = tl.load(KvLen + request)
    if PAGED:
        kv_len = tl.minimum(kv_len, stride_table * PAGE)
    else:
        kv_len = tl.minimum(kv_len, stride_table)
    places = kv_len
    if LISTED:
        places = tl.minimum(tl.load(Count + request), stride_list) * PAGE
    # only the device knows a request's length, so the splits are computed here
    share = tl.cdiv(tl.cdiv(places, BLOCK_N), SPLITS) * BLOCK_N
    table, pages = Table + request * stride_table, List + request * stride_list
    n = tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in tl.range(split * share, tl.minimum((split + 1) * share, places), BLOCK_N):
        slots, wanted = _slots_of(table, pages, start + n, places, kv_len, PAGE, PAGED, LISTED)
        place = slots[:, None] * stride_slot + key_head * stride_head + d[None, :]
        present = wanted[:, None] & (d < HEAD_DIM)[None, :]
        k = tl.load(K + place, mask=present, other=0.0)
        v = tl.load(V + place, mask=present, other=0.0)
        acc, highest, total = attend(acc, highest, total, q, k, v, wanted[None, :], scale, True, PRECISION)
    out, lse = finish(acc, highest, total)
    part = ((request * tl.num_programs(1) * GROUP + head) * SPLITS + split)[:, None] * HEAD_DIM + d[None, :]
    tl.store(PartOut + part, out, mask=real)
    tl.store(PartLse + (request * tl.num_programs(1) * GROUP + head) * SPLITS + split, lse, mask=row < GROUP)


@triton.jit
def combine_kernel(
    PartOut, PartLse, Out, Lse, stride_out_token, stride_out_head,
    SPLITS: tl.constexpr, BLOCK_S: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """One program combines the splits of one request and head, each weighted by its part of the softmax."""
    request, head = wide(tl.program_id(0)), wide(tl.program_id(1))
    row = request * tl.num_programs(1) + head
    s, d = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_D)
    lse = tl.load(PartLse + row * SPLITS + s, mask=s < SPLITS, other=float("-inf"))
    highest = tl.max(lse, 0)
    base = tl.where(highest == float("-inf"), 0.0, highest)
    weight = tl.exp(lse - base)
    total = tl.sum(weight, 0)
    part = (row * SPLITS + s)[:, None] * HEAD_DIM + d[None, :]
    out = tl.load(PartOut + part, mask=(s < SPLITS)[:, None] & (d < HEAD_DIM)[None, :], other=0.0)
    out = tl.sum(out * weight[:, None], 0) / tl.where(total > 0, total, 1.0)
    place = request * stride_out_token + head * stride_out_head + d
    tl.store(Out + place, out.to(Out.dtype.element_ty), mask=d < HEAD_DIM)
    tl.store(Lse + row, tl.where(total > 0, base + tl.log(tl.where(total > 0, total, 1.0)), float("-inf")))
