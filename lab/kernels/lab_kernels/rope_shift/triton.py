"""The Triton kernel of rope_shift."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.wide import wide


@triton.jit
def rope_shift_kernel(
    Keys, Slots, Target, TargetSlots, Move, Cos, Sin, tokens,
    stride_key_slot, stride_key_head, stride_target_slot, stride_target_head,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr, INTERLEAVED: tl.constexpr,
    COPY_REST: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_PAIRS: tl.constexpr, BLOCK_REST: tl.constexpr,
):  # fmt: skip
    """One program moves BLOCK_T tokens with all heads: it reads the cosines and sines once for all heads."""
    token = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    slot = tl.load(Slots + token, mask=token < tokens, other=-1).to(tl.int64)
    target = tl.load(TargetSlots + token, mask=token < tokens, other=-1).to(tl.int64)
    live = (slot >= 0) & (target >= 0)
    move = tl.load(Move + token, mask=live, other=0).to(tl.int64)

    HALF: tl.constexpr = ROTARY_DIM // 2
    pair = tl.arange(0, BLOCK_PAIRS)
    here = live[:, None] & (pair < HALF)[None, :]
    turn = move[:, None] * HALF + pair[None, :]  # [BLOCK_T, BLOCK_PAIRS]
    cos = tl.load(Cos + turn, mask=here, other=1.0)
    sin = tl.load(Sin + turn, mask=here, other=0.0)
    source_row, target_row = Keys + slot * stride_key_slot, Target + target * stride_target_slot
    both = tl.arange(0, 2 * BLOCK_PAIRS)
    whole = live[:, None] & (both < ROTARY_DIM)[None, :]
    rest = ROTARY_DIM + tl.arange(0, BLOCK_REST)
    uncopied = live[:, None] & (rest < HEAD_DIM)[None, :]

    for head in range(HEADS):
        source = source_row[:, None] + wide(head) * stride_key_head
        sink = target_row[:, None] + wide(head) * stride_target_head
        if INTERLEAVED:
            # read neighbours together and separate them in registers: two loads of every other number would be two
            # passes
            key = tl.load(source + both[None, :], mask=whole, other=0.0).to(tl.float32)
            x, y = tl.split(tl.reshape(key, (BLOCK_T, BLOCK_PAIRS, 2)))
            turned = tl.reshape(tl.join(x * cos - y * sin, x * sin + y * cos), (BLOCK_T, 2 * BLOCK_PAIRS))
            tl.store(sink + both[None, :], turned.to(Target.dtype.element_ty), mask=whole)
        else:
            x = tl.load(source + pair[None, :], mask=here, other=0.0).to(tl.float32)
            y = tl.load(source + HALF + pair[None, :], mask=here, other=0.0).to(tl.float32)
            tl.store(sink + pair[None, :], (x * cos - y * sin).to(Target.dtype.element_ty), mask=here)
            tl.store(sink + HALF + pair[None, :], (x * sin + y * cos).to(Target.dtype.element_ty), mask=here)
        if COPY_REST:
            tl.store(sink + rest[None, :], tl.load(source + rest[None, :], mask=uncopied), mask=uncopied)
