"""Shared by the attention kernels: one tile of query rows against one tile of keys, with a running softmax."""

import triton
import triton.language as tl


@triton.jit
def attend(
    acc, highest, total, q, k, v, seen, scale,
    MASKED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One step of the running softmax, in powers of 2; `scale` includes log2(e).

    acc [M, D], highest [M], total [M] so far; q [M, D], k and v [N, D]; seen [M, N] if MASKED, else unused.
    """
    return attend_scores(
        acc, highest, total, tl.dot(q, tl.trans(k), input_precision=PRECISION) * scale, v, seen, MASKED, PRECISION
    )


@triton.jit
def attend_scores(acc, highest, total, scores, v, seen, MASKED: tl.constexpr, PRECISION: tl.constexpr):
    """Like `attend`, from scores [M, N] that are already scaled to powers of 2."""
    if MASKED:
        scores = tl.where(seen, scores, float("-inf"))
    new_highest = tl.maximum(highest, tl.max(scores, 1))
    base = new_highest
    if MASKED:
        # a row that has seen no key yet would compute -inf - -inf
        base = tl.where(new_highest == float("-inf"), 0.0, new_highest)
    weights = tl.exp2(scores - base[:, None])
    shrink = tl.exp2(highest - base)
    total = total * shrink + tl.sum(weights, 1)
    acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None], input_precision=PRECISION)
    return acc, new_highest, total


@triton.jit
def finish(acc, highest, total):
    """Returns the attention output [M, D] and the natural log-sum-exp [M]; 0 and -inf for a row that saw no key."""
    safe = tl.where(total > 0, total, 1.0)
    lse = tl.where(total > 0, (highest + tl.log2(safe)) * 0.6931471805599453, float("-inf"))
    return acc / safe[:, None], lse
