"""The Triton kernel of sparse prefill attention over a slot table."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.attention_tile import attend, finish
from reprise_kernels.device_functions.wide import wide
from reprise_kernels.sparse_prefill_attention.query_tile import find_request, rows_of_tile, store_rows


@triton.jit
def _keys_of(SlotRow, K, V, positions, inside, head, stride_slot, stride_head, HEAD_DIM: tl.constexpr,
             BLOCK_D: tl.constexpr, MASKED: tl.constexpr):  # fmt: skip
    """Returns k and v [N, D] of one key head at these positions."""
    d = tl.arange(0, BLOCK_D)
    if MASKED:
        slots = tl.load(SlotRow + positions, mask=inside, other=0).to(tl.int64)
        present = inside[:, None] & (d < HEAD_DIM)[None, :]
    else:
        slots = tl.load(SlotRow + positions).to(tl.int64)
    place = slots[:, None] * stride_slot + head * stride_head + d[None, :]
    if MASKED:
        return tl.load(K + place, mask=present, other=0.0), tl.load(V + place, mask=present, other=0.0)
    if BLOCK_D != HEAD_DIM:
        real = (d < HEAD_DIM)[None, :]
        return tl.load(K + place, mask=real, other=0.0), tl.load(V + place, mask=real, other=0.0)
    return tl.load(K + place), tl.load(V + place)


@triton.jit
def slot_prefill_kernel(
    Q, QPos, CuQ, K, V, SlotTable, KvLen, OwnK, OwnV, Out, Lse, requests, scale,
    stride_q_token, stride_q_head, stride_slot, stride_head, stride_table, stride_own_token, stride_own_head,
    stride_out_token, stride_out_head, stride_lse_token,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_B: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr, OWN: tl.constexpr,
):  # fmt: skip
    """One program: BLOCK_Q query tokens of one request, the query heads of one key head; all keys they may see."""
    # the last tokens see the most keys, so they start first
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    key_head = wide(tl.program_id(1))
    request, first_row, local = find_request(CuQ, tile, requests, BLOCK_B, BLOCK_Q)
    if first_row + local * BLOCK_Q >= tl.load(CuQ + request + 1):
        return
    token, position, live = rows_of_tile(CuQ, QPos, request, first_row, local, GROUP, BLOCK_M, BLOCK_Q)
    head = key_head * GROUP + tl.arange(0, BLOCK_M) % GROUP
    d = tl.arange(0, BLOCK_D)
    place = token.to(tl.int64)[:, None] * stride_q_token + head[:, None] * stride_q_head + d[None, :]
    q = tl.load(Q + place, mask=live[:, None] & (d < HEAD_DIM)[None, :], other=0.0)

    # tables are contiguous, so a row's stride is also its length
    kv_len = tl.minimum(tl.load(KvLen + request), stride_table)
    end = tl.minimum(tl.max(position, 0) + 1, kv_len)
    # no score below the lowest query's position needs a mask
    unmasked_end = tl.minimum(tl.min(tl.where(live, position, 2147483646), 0) + 1, kv_len) // BLOCK_N * BLOCK_N
    slot_row = SlotTable + request.to(tl.int64) * stride_table
    n = tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in tl.range(0, unmasked_end, BLOCK_N):
        k, v = _keys_of(slot_row, K, V, start + n, n < BLOCK_N, key_head, stride_slot, stride_head,
                        HEAD_DIM, BLOCK_D, False)  # fmt: skip
        acc, highest, total = attend(acc, highest, total, q, k, v, n, scale, False, PRECISION)
    for start in tl.range(unmasked_end, end, BLOCK_N):
        inside = start + n < end
        k, v = _keys_of(slot_row, K, V, start + n, inside, key_head, stride_slot, stride_head,
                        HEAD_DIM, BLOCK_D, True)  # fmt: skip
        seen = inside[None, :] & ((start + n)[None, :] <= position[:, None])
        acc, highest, total = attend(acc, highest, total, q, k, v, seen, scale, True, PRECISION)
    if OWN:
        # behind the keys of the cache come those of the queries themselves, up to each query's own
        own_end = tl.minimum(first_row + (local + 1) * BLOCK_Q, tl.load(CuQ + request + 1))
        for start in tl.range(first_row, own_end, BLOCK_N):
            inside = start + n < own_end
            own_place = (start + n).to(tl.int64)[:, None] * stride_own_token + key_head * stride_own_head + d[None, :]
            present = inside[:, None] & (d < HEAD_DIM)[None, :]
            k, v = (
                tl.load(OwnK + own_place, mask=present, other=0.0),
                tl.load(OwnV + own_place, mask=present, other=0.0),
            )
            seen = inside[None, :] & ((start + n)[None, :] <= token[:, None])
            acc, highest, total = attend(acc, highest, total, q, k, v, seen, scale, True, PRECISION)
    out, lse = finish(acc, highest, total)
    store_rows(Out, Lse, out, lse, token, head, live, stride_out_token, stride_out_head, stride_lse_token,
               HEAD_DIM, BLOCK_D)  # fmt: skip
