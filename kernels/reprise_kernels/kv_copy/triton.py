"""The Triton kernels of kv_copy."""

import triton
import triton.language as tl


@triton.jit
def copy_pages_kernel(
    LayerBases, Pages, HostPages, host_base, count, stride_page,
    PLANES: tl.constexpr, WORDS: tl.constexpr, BLOCK: tl.constexpr, TO_HOST: tl.constexpr,
):  # fmt: skip
    """A few programs take turns at the pieces: BLOCK words of 8 bytes from one page of one layer's keys or values.

    Addresses are passed as numbers: host memory mapped for the GPU is read and written like its own.
    """
    PIECES: tl.constexpr = (WORDS + BLOCK - 1) // BLOCK
    word = tl.arange(0, BLOCK)
    host = tl.full((), 0, tl.int64) + host_base
    for piece in tl.range(tl.program_id(0), count * PLANES * PIECES, tl.num_programs(0)):
        item = piece // (PLANES * PIECES)
        plane = piece // PIECES % PLANES
        at = piece % PIECES * BLOCK + word
        page, host_page = tl.load(Pages + item).to(tl.int64), tl.load(HostPages + item).to(tl.int64)
        wanted = (page >= 0) & (host_page >= 0) & (at < WORDS)
        layer_at = tl.load(LayerBases + plane) + page * stride_page * 8
        host_at = host + (host_page * PLANES + plane) * (WORDS * 8)
        # aligned to 16 bytes, so that words move in pairs; the launch has checked it
        on_layer = tl.multiple_of(layer_at.to(tl.pointer_type(tl.int64)), 16) + at
        on_host = tl.multiple_of(host_at.to(tl.pointer_type(tl.int64)), 16) + at
        if TO_HOST:
            tl.store(on_host, tl.load(on_layer, mask=wanted), mask=wanted)
        else:
            tl.store(on_layer, tl.load(on_host, mask=wanted), mask=wanted)


@triton.jit
def copy_rows_kernel(
    Rows, Slots, host_base, count,
    WORDS: tl.constexpr, BLOCK: tl.constexpr, BLOCK_ROWS: tl.constexpr, TO_HOST: tl.constexpr,
):  # fmt: skip
    """A few programs take turns at BLOCK_ROWS rows of WORDS words of 8 bytes; a host row is that of its slot."""
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
