"""The Triton kernel of kv_deviation."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.wide import wide


@triton.jit
def kv_deviation_kernel(
    Fresh, Cached, FreshWeight, StaleWeight, CuTokens, SlotTable, KvLen, Scores,
    stride_token, stride_fresh_head, stride_slot, stride_head, stride_weight, stride_table, stride_scores,
    HAS_FRESH: tl.constexpr, WEIGHTED: tl.constexpr, HEADS: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """One program: BLOCK_T tokens of one request with all their heads; adds to their scores."""
    request = tl.program_id(1).to(tl.int64)
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.arange(0, BLOCK_D)
    # tables are contiguous, so a row's stride is also its length
    length = tl.minimum(tl.load(KvLen + request), stride_table)
    first = tl.load(CuTokens + request)
    if HAS_FRESH:
        length = tl.minimum(length, tl.load(CuTokens + request + 1) - first)
    inside = t < length
    slot = tl.load(SlotTable + request * stride_table + t, mask=inside, other=0).to(tl.int64)
    there = inside[:, None] & (d < HEAD_DIM)[None, :]
    if WEIGHTED:
        fresh_weight = tl.load(FreshWeight + request * stride_weight + t, mask=inside, other=0.0)
        stale_weight = tl.load(StaleWeight + request * stride_weight + t, mask=inside, other=0.0)
    total = tl.zeros((BLOCK_T,), tl.float32)
    for head in range(HEADS):
        place = slot[:, None] * stride_slot + wide(head) * stride_head + d[None, :]
        difference = tl.load(Cached + place, mask=there, other=0.0).to(tl.float32)
        if WEIGHTED:
            difference *= stale_weight[:, None]
        if HAS_FRESH:
            fresh = (first + t).to(tl.int64)[:, None] * stride_token + wide(head) * stride_fresh_head + d[None, :]
            new = tl.load(Fresh + fresh, mask=there, other=0.0).to(tl.float32)
            if WEIGHTED:
                new *= fresh_weight[:, None]
            difference = new - difference
        total += tl.sum(difference * difference, 1)
    score = Scores + request * stride_scores + t
    tl.store(score, tl.load(score, mask=inside, other=0.0) + total, mask=inside)
