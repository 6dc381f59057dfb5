"""The Triton kernel of question_scores."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.wide import wide


@triton.jit
def question_scores_kernel(
    Q, QPos, CuQ, Lse, K, SlotTable, KvLen, Out, scale, weight,
    stride_q_token, stride_q_head, stride_lse_token, stride_slot, stride_head, stride_table, stride_out,
    KEY_HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One program: the column sums of one request's BLOCK_N keys, over all heads and question tokens.

    No other program adds to these sums, so they are the same from run to run.
    """
    request = tl.program_id(1).to(tl.int64)
    first, last = tl.load(CuQ + request), tl.load(CuQ + request + 1)
    # tables are contiguous, so a row's stride is also its length
    end = tl.minimum(tl.load(KvLen + request), stride_table)
    # a captured graph has programs for the longest context
    if tl.program_id(0) * BLOCK_N >= end:
        return
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = n < end
    slots = tl.load(SlotTable + request * stride_table + n, mask=inside, other=0).to(tl.int64)
    d, m = tl.arange(0, BLOCK_D), tl.arange(0, BLOCK_M)
    real = (d < HEAD_DIM)[None, :]
    sums = tl.zeros((BLOCK_N,), tl.float32)
    for key_head in range(KEY_HEADS):
        place = slots[:, None] * stride_slot + wide(key_head) * stride_head + d[None, :]
        k = tl.trans(tl.load(K + place, mask=inside[:, None] & real, other=0.0))  # [BLOCK_D, BLOCK_N]
        head = wide(key_head) * GROUP + m % GROUP
        for start in tl.range(first, last, BLOCK_Q):
            token = (start + m // GROUP).to(tl.int64)
            live = (m // GROUP < BLOCK_Q) & (token < last)
            place_q = token[:, None] * stride_q_token + head[:, None] * stride_q_head + d[None, :]
            q = tl.load(Q + place_q, mask=live[:, None] & real, other=0.0)
            lse = tl.load(Lse + token * stride_lse_token + head, mask=live, other=0.0) * 1.4426950408889634
            position = tl.load(QPos + token, mask=live, other=-1)
            scores = tl.dot(q, k, input_precision=PRECISION) * scale - lse[:, None]
            # a position of -1 sees nothing, so absent rows add nothing
            sums += tl.sum(tl.where(n[None, :] <= position[:, None], tl.exp2(scores), 0.0), 0)
    place_out = Out + request * stride_out + n
    share = weight / tl.maximum((last - first) * KEY_HEADS * GROUP, 1).to(tl.float32)
    tl.store(place_out, tl.load(place_out, mask=inside, other=0.0) + sums * share, mask=inside)
