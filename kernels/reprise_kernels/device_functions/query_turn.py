"""Turns queries back by a chunk's distance, for keys that stay where they were; shared by the turned kernels."""

import triton
import triton.language as tl


@triton.jit
def pairs_of(HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr, INTERLEAVED: tl.constexpr):
    """Returns the two dimensions of each of HEAD_DIM // 2 pairs; pairs of dimensions past ROTARY_DIM do not turn."""
    i = tl.arange(0, HEAD_DIM // 2)
    if INTERLEAVED:
        return 2 * i, 2 * i + 1
    rest = (HEAD_DIM - ROTARY_DIM) // 2
    turning = i < ROTARY_DIM // 2
    first = tl.where(turning, i, i + ROTARY_DIM // 2)
    return first, first + tl.where(turning, ROTARY_DIM // 2, rest)


@triton.jit
def turn_of(Cos, Sin, turn, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr):
    """Returns the cosines and sines [1, HEAD_DIM // 2] of one distance; 1 and 0 for pairs that do not turn."""
    i = tl.arange(0, HEAD_DIM // 2)
    angle = turn.to(tl.int64) * (ROTARY_DIM // 2) + i
    cos = tl.load(Cos + angle, mask=i < ROTARY_DIM // 2, other=1.0)
    sin = tl.load(Sin + angle, mask=i < ROTARY_DIM // 2, other=0.0)
    return cos[None, :], sin[None, :]


@triton.jit
def turn_back(x, y, cos, sin):
    """Turns the halves [M, HEAD_DIM // 2] of queries by minus the distance, in their own data type."""
    return (x * cos + y * sin).to(x.dtype), (y * cos - x * sin).to(y.dtype)
