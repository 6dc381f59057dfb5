"""The Triton kernel of kv_fill."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.wide import wide


@triton.jit
def kv_fill_kernel(
    SourceKeys, SourceValues, SourceSlots, TargetKeys, TargetValues, TargetSlots, Distances, Cos, Sin, Like, rows,
    layers, stride_source_slot, stride_source_head, stride_target_slot, stride_target_head,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr, INTERLEAVED: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_PAIRS: tl.constexpr, BLOCK_REST: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Programs take turns at BLOCK_T rows of one layer."""
    tiles = tl.cdiv(rows, BLOCK_T)
    for tile in tl.range(tl.program_id(0), tiles * layers, tl.num_programs(0)):
        _fill_tile(
            SourceKeys, SourceValues, SourceSlots, TargetKeys, TargetValues, TargetSlots, Distances, Cos, Sin, Like,
            rows, tile % tiles, tile // tiles,
            stride_source_slot, stride_source_head, stride_target_slot, stride_target_head,
            HEADS, HEAD_DIM, ROTARY_DIM, INTERLEAVED, BLOCK_T, BLOCK_PAIRS, BLOCK_REST, BLOCK_D,
        )  # fmt: skip


@triton.jit
def _fill_tile(
    SourceKeys, SourceValues, SourceSlots, TargetKeys, TargetValues, TargetSlots, Distances, Cos, Sin, Like, rows, tile,
    layer, stride_source_slot, stride_source_head, stride_target_slot, stride_target_head,
    HEADS: tl.constexpr, HEAD_DIM: tl.constexpr, ROTARY_DIM: tl.constexpr, INTERLEAVED: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_PAIRS: tl.constexpr, BLOCK_REST: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Fills BLOCK_T rows of one layer, all heads: the cosines and sines are read once for all heads.

    Layers are found by address: their pages are separate tensors, and host memory mapped for the GPU is read like its
    own. `Like` has the type of the numbers; nothing of it is read.
    """
    row = tile * BLOCK_T + tl.arange(0, BLOCK_T)
    live = row < rows
    source = tl.load(SourceSlots + row, mask=live, other=0).to(tl.int64)
    target = tl.load(TargetSlots + row, mask=live, other=0).to(tl.int64)
    distance = tl.load(Distances + row, mask=live, other=0)

    HALF: tl.constexpr = ROTARY_DIM // 2
    pair = tl.arange(0, BLOCK_PAIRS)
    here = live[:, None] & (pair < HALF)[None, :]
    turn = tl.abs(distance).to(tl.int64)[:, None] * HALF + pair[None, :]  # [BLOCK_T, BLOCK_PAIRS]
    cos = tl.load(Cos + turn, mask=here, other=1.0)
    sin = tl.load(Sin + turn, mask=here, other=0.0)
    sin = tl.where((distance < 0)[:, None], -sin, sin)
    stays = (distance == 0)[:, None]

    source_place, target_place = source * stride_source_slot, target * stride_target_slot
    from_keys = tl.multiple_of(tl.load(SourceKeys + layer).to(Like.dtype), 16)
    from_values = tl.multiple_of(tl.load(SourceValues + layer).to(Like.dtype), 16)
    to_keys = tl.multiple_of(tl.load(TargetKeys + layer).to(Like.dtype), 16)
    to_values = tl.multiple_of(tl.load(TargetValues + layer).to(Like.dtype), 16)
    both = tl.arange(0, 2 * BLOCK_PAIRS)
    whole = live[:, None] & (both < ROTARY_DIM)[None, :]
    rest = ROTARY_DIM + tl.arange(0, BLOCK_REST)
    unturned = live[:, None] & (rest < HEAD_DIM)[None, :]
    d = tl.arange(0, BLOCK_D)
    inside = live[:, None] & (d < HEAD_DIM)[None, :]

    for head in range(HEADS):
        origin = source_place[:, None] + wide(head) * stride_source_head
        sink = target_place[:, None] + wide(head) * stride_target_head
        if INTERLEAVED:
            # read neighbours together and separate them in registers: two loads of every other number would be two
            # passes
            key = tl.load(from_keys + origin + both[None, :], mask=whole, other=0.0).to(tl.float32)
            x, y = tl.split(tl.reshape(key, (BLOCK_T, BLOCK_PAIRS, 2)))
            turned_x = tl.where(stays, x, x * cos - y * sin)
            turned_y = tl.where(stays, y, x * sin + y * cos)
            turned = tl.reshape(tl.join(turned_x, turned_y), (BLOCK_T, 2 * BLOCK_PAIRS))
            tl.store(to_keys + sink + both[None, :], turned.to(Like.dtype.element_ty), mask=whole)
        else:
            x = tl.load(from_keys + origin + pair[None, :], mask=here, other=0.0).to(tl.float32)
            y = tl.load(from_keys + origin + HALF + pair[None, :], mask=here, other=0.0).to(tl.float32)
            turned_x = tl.where(stays, x, x * cos - y * sin)
            turned_y = tl.where(stays, y, x * sin + y * cos)
            tl.store(to_keys + sink + pair[None, :], turned_x.to(Like.dtype.element_ty), mask=here)
            tl.store(to_keys + sink + HALF + pair[None, :], turned_y.to(Like.dtype.element_ty), mask=here)
        if ROTARY_DIM < HEAD_DIM:
            kept = tl.load(from_keys + origin + rest[None, :], mask=unturned)
            tl.store(to_keys + sink + rest[None, :], kept, mask=unturned)
        value = tl.load(from_values + origin + d[None, :], mask=inside)
        tl.store(to_values + sink + d[None, :], value, mask=inside)
