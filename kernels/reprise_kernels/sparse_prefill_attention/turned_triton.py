"""The Triton kernel that turns queries per chunk instead of keys: a chunk's pages work at any position."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.attention_tile import attend_scores, finish
from reprise_kernels.device_functions.query_turn import pairs_of, turn_back, turn_of
from reprise_kernels.device_functions.wide import wide
from reprise_kernels.sparse_prefill_attention.query_tile import find_request, rows_of_tile, store_rows


@triton.jit
def turned_prefill_kernel(
    Q, QPos, CuQ, K, V, SlotTable, KvLen, TurnOfTile, Cos, Sin, Out, Lse, requests, scale,
    stride_q_token, stride_q_head, stride_slot, stride_head, stride_table, stride_turns,
    stride_out_token, stride_out_head, stride_lse_token,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr, INTERLEAVED: tl.constexpr,
    TILE: tl.constexpr, BLOCK_B: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr,
    BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Like slot_prefill_kernel, but computes q . R(m) k as R(-m) q . k; BLOCK_N divides TILE."""
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    key_head = wide(tl.program_id(1))
    request, first_row, local = find_request(CuQ, tile, requests, BLOCK_B, BLOCK_Q)
    if first_row + local * BLOCK_Q >= tl.load(CuQ + request + 1):
        return
    token, position, live = rows_of_tile(CuQ, QPos, request, first_row, local, GROUP, BLOCK_M, BLOCK_Q)
    head = key_head * GROUP + tl.arange(0, BLOCK_M) % GROUP
    first, second = pairs_of(HEAD_DIM, ROTARY_DIM, INTERLEAVED)
    row = token.to(tl.int64)[:, None] * stride_q_token + head[:, None] * stride_q_head
    x = tl.load(Q + row + first[None, :], mask=live[:, None], other=0.0)
    y = tl.load(Q + row + second[None, :], mask=live[:, None], other=0.0)

    # tables are contiguous, so a row's stride is also its length
    kv_len = tl.minimum(tl.load(KvLen + request), stride_table)
    end = tl.minimum(tl.max(position, 0) + 1, kv_len)
    n, d = tl.arange(0, BLOCK_N), tl.arange(0, HEAD_DIM)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    for start in tl.range(0, end, BLOCK_N):
        inside = start + n < end
        slots = tl.load(SlotTable + request.to(tl.int64) * stride_table + start + n, mask=inside, other=0)
        keys = slots.to(tl.int64)[:, None] * stride_slot + key_head * stride_head
        k_first = tl.load(K + keys + first[None, :], mask=inside[:, None], other=0.0)
        k_second = tl.load(K + keys + second[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(V + keys + d[None, :], mask=inside[:, None], other=0.0)

        turn = tl.load(TurnOfTile + request.to(tl.int64) * stride_turns + start // TILE)
        cos, sin = turn_of(Cos, Sin, turn, HEAD_DIM, ROTARY_DIM)
        x_turned, y_turned = turn_back(x, y, cos, sin)
        scores = tl.dot(x_turned, tl.trans(k_first), input_precision=PRECISION)
        scores = tl.dot(y_turned, tl.trans(k_second), scores, input_precision=PRECISION) * scale
        seen = inside[None, :] & ((start + n)[None, :] <= position[:, None])
        acc, highest, total = attend_scores(acc, highest, total, scores, v, seen, True, PRECISION)
    out, lse = finish(acc, highest, total)
    store_rows(Out, Lse, out, lse, token, head, live, stride_out_token, stride_out_head, stride_lse_token,
               HEAD_DIM, HEAD_DIM)  # fmt: skip
