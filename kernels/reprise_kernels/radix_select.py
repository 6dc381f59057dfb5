"""The k-th largest of scores, found by their digits: what the selecting kernels share."""

import triton
import triton.language as tl


@triton.jit
def order_preserving(scores):
    """Integers in the same order as the float32 scores, never negative as int64; equal for 0 and -0, 0 for NaN."""
    bits = (scores + 0.0).to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    keys = tl.where(bits >= 0x80000000, 0xFFFFFFFF - bits, bits + 0x80000000)
    return tl.where(scores == scores, keys, 0)


@triton.jit
def digit_of_rank(counts, rank, BINS: tl.constexpr):
    """Of a histogram [BINS]: the digit that holds the rank-th largest (rank >= 1), and how many digits are above it."""
    digit = tl.arange(0, BINS)
    above = tl.sum(counts, 0) - tl.cumsum(counts, 0)
    holds = (above < rank) & (rank <= above + counts)
    return tl.sum(tl.where(holds, digit, 0), 0), tl.sum(tl.where(holds, above, 0), 0)
