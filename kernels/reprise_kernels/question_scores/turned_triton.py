"""The Triton kernel of question_scores that turns the queries instead of the keys."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.query_turn import pairs_of, turn_back, turn_of
from reprise_kernels.device_functions.wide import wide


@triton.jit
def turned_question_scores_kernel(
    Q, QPos, CuQ, Lse, K, SlotTable, KvLen, TurnOfTile, Cos, Sin, Out, scale, weight,
    stride_q_token, stride_q_head, stride_lse_token, stride_slot, stride_head, stride_table, stride_turns, stride_out,
    KEY_HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr,
    INTERLEAVED: tl.constexpr, TILE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr,
    BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Like question_scores_kernel; BLOCK_N divides TILE, so that a program has one distance."""
    request = tl.program_id(1).to(tl.int64)
    first_row, last = tl.load(CuQ + request), tl.load(CuQ + request + 1)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    # tables are contiguous, so a row's stride is also its length
    inside = n < tl.minimum(tl.load(KvLen + request), stride_table)
    slots = tl.load(SlotTable + request * stride_table + n, mask=inside, other=0).to(tl.int64)
    turn = tl.load(TurnOfTile + request * stride_turns + tl.program_id(0) * BLOCK_N // TILE)
    cos, sin = turn_of(Cos, Sin, turn, HEAD_DIM, ROTARY_DIM)
    first, second = pairs_of(HEAD_DIM, ROTARY_DIM, INTERLEAVED)
    m = tl.arange(0, BLOCK_M)
    sums = tl.zeros((BLOCK_N,), tl.float32)
    for key_head in range(KEY_HEADS):
        key = slots[:, None] * stride_slot + wide(key_head) * stride_head
        k_first = tl.trans(tl.load(K + key + first[None, :], mask=inside[:, None], other=0.0))
        k_second = tl.trans(tl.load(K + key + second[None, :], mask=inside[:, None], other=0.0))
        head = wide(key_head) * GROUP + m % GROUP
        for start in tl.range(first_row, last, BLOCK_Q):
            token = (start + m // GROUP).to(tl.int64)
            live = (m // GROUP < BLOCK_Q) & (token < last)
            row = token[:, None] * stride_q_token + head[:, None] * stride_q_head
            x = tl.load(Q + row + first[None, :], mask=live[:, None], other=0.0)
            y = tl.load(Q + row + second[None, :], mask=live[:, None], other=0.0)
            lse = tl.load(Lse + token * stride_lse_token + head, mask=live, other=0.0) * 1.4426950408889634
            position = tl.load(QPos + token, mask=live, other=-1)
            x_turned, y_turned = turn_back(x, y, cos, sin)
            scores = tl.dot(x_turned, k_first, input_precision=PRECISION)
            scores = tl.dot(y_turned, k_second, scores, input_precision=PRECISION) * scale - lse[:, None]
            sums += tl.sum(tl.where(n[None, :] <= position[:, None], tl.exp2(scores), 0.0), 0)
    place_out = Out + request * stride_out + n
    share = weight / tl.maximum((last - first_row) * KEY_HEADS * GROUP, 1).to(tl.float32)
    tl.store(place_out, tl.load(place_out, mask=inside, other=0.0) + sums * share, mask=inside)
