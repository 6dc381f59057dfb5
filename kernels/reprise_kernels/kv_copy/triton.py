"""The Triton kernel of kv_copy."""

import triton
import triton.language as tl


@triton.jit
def copy_rows_kernel(
    Rows, Slots, host_base, count,
    WORDS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_ROWS: tl.constexpr, TO_HOST: tl.constexpr,
):  # fmt: skip
    """A few programs take turns at BLOCK_ROWS rows of WORDS words of 8 bytes; a host row is that of its slot.

    The address is passed as a number: host memory mapped for the GPU is read and written like its own.
    """
    word = tl.arange(0, BLOCK)
    host = tl.full((), 0, tl.int64) + host_base
    for piece in tl.range(tl.program_id(0), tl.cdiv(count, BLOCK_ROWS), tl.num_programs(0)):
        row = piece * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
        slot = tl.load(Slots + row, mask=row < count, other=0).to(tl.int64)
        host_rows = tl.multiple_of((host + slot * (WORDS * 8)).to(tl.pointer_type(tl.int64)), 16)
        for start in tl.static_range(0, WORDS, BLOCK):
            at = start + word
            wanted = (row < count)[:, None] & (at < WORDS)[None, :]
            on_device = Rows + row.to(tl.int64)[:, None] * WORDS + at[None, :]
            on_host = host_rows[:, None] + at[None, :]
            if TO_HOST:
                tl.store(on_host, tl.load(on_device, mask=wanted), mask=wanted)
            else:
                tl.store(on_device, tl.load(on_host, mask=wanted), mask=wanted)
