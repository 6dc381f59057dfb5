"""The Triton kernel of select_tokens."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.radix_select import digit_of_rank, order_preserving


@triton.jit
def _keys(Scores, n, length):
    return order_preserving(tl.load(Scores + n, mask=n < length, other=0.0))


@triton.jit
def select_tokens_kernel(
    Scores, Lengths, Positions, Counts, ratio: tl.float64, stride_scores, width, capacity, BLOCK: tl.constexpr
):
    """One program per request: finds the threshold byte by byte from the highest, then the scores above it, in order.

    Compile it without fused multiplications, so that the number of tokens is rounded as in the specification.
    """
    request = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(Lengths + request), width)
    wanted = tl.ceil(length.to(tl.float64) * tl.full((), ratio, tl.float64) - tl.full((), 1e-6, tl.float64))
    wanted = tl.minimum(tl.maximum(wanted.to(tl.int32), 0), capacity)
    tl.store(Counts + request, wanted)
    scores, positions = Scores + request * stride_scores, Positions + request * capacity
    block = tl.arange(0, BLOCK)

    prefix, rank = tl.full((), 0, tl.int64), wanted
    for byte in tl.static_range(4):
        shift = 24 - 8 * byte
        counts = tl.zeros((256,), tl.int32)
        for start in tl.range(0, length, BLOCK):
            keys = _keys(scores, start + block, length)
            alike = (start + block < length) & ((keys >> (shift + 8)) == prefix)
            counts += tl.histogram(((keys >> shift) & 255).to(tl.int32), 256, mask=alike)
        digit, above = digit_of_rank(counts, rank, 256)
        prefix, rank = prefix * 256 + digit, rank - above

    # the first `rank` of the scores that equal the threshold are taken
    taken, equal_before = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32)
    for start in tl.range(0, length, BLOCK):
        keys = _keys(scores, start + block, length)
        inside = start + block < length
        equal = (inside & (keys == prefix)).to(tl.int32)
        chosen = (inside & (keys > prefix)) | ((equal == 1) & (equal_before + tl.cumsum(equal, 0) <= rank))
        chosen = chosen & (wanted > 0)
        place = taken + tl.cumsum(chosen.to(tl.int32), 0) - 1
        tl.store(positions + place, start + block, mask=chosen)
        taken += tl.sum(chosen.to(tl.int32), 0)
        equal_before += tl.sum(equal, 0)
    for start in tl.range(0, capacity, BLOCK):
        tl.store(positions + start + block, -1, mask=(start + block >= taken) & (start + block < capacity))
