"""Finds the k-th largest score digit by digit; shared by the selection kernels."""

import triton
import triton.language as tl


@triton.jit
def order_preserving(scores):
    """Maps float32 scores to non-negative int64 in the same order; 0 and -0 map to the same value, NaN to 0."""
    bits = (scores + 0.0).to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    keys = tl.where(bits >= 0x80000000, 0xFFFFFFFF - bits, bits + 0x80000000)
    return tl.where(scores == scores, keys, 0)


@triton.jit
def digit_of_rank(counts, rank, BINS: tl.constexpr):
    """Of a histogram [BINS], the digit of the rank-th largest entry (rank >= 1), and the number of entries above it."""
    digit = tl.arange(0, BINS)
    above = tl.sum(counts, 0) - tl.cumsum(counts, 0)
    holds = (above < rank) & (rank <= above + counts)
    return tl.sum(tl.where(holds, digit, 0), 0), tl.sum(tl.where(holds, above, 0), 0)
