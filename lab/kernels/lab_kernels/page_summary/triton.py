"""The Triton kernels of page_summary, mean_rows and recent_anchor."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.wide import wide


@triton.jit
def page_summary_kernel(
    K, PageIds, Tokens, Out, stride_page, stride_slot, stride_head, stride_out_page,
    PAGE: tl.constexpr, BLOCK_T: tl.constexpr, HEAD_DIM: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: BLOCK of one page's columns (heads x dimensions)."""
    page, tokens = tl.load(PageIds + tl.program_id(0)).to(tl.int64), tl.load(Tokens + tl.program_id(0))
    if (page < 0) | (tokens <= 0):
        return
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    t = tl.arange(0, BLOCK_T)
    place = page * stride_page + t[:, None] * stride_slot
    place += (wide(column // HEAD_DIM) * stride_head + column % HEAD_DIM)[None, :]
    there = ((t < tokens) & (t < PAGE))[:, None] & (column < COLUMNS)[None, :]
    mean = tl.sum(tl.load(K + place, mask=there, other=0.0).to(tl.float32), 0) / tokens.to(tl.float32)
    out = Out + page * stride_out_page + column
    tl.store(out, mean.to(Out.dtype.element_ty), mask=column < COLUMNS)


@triton.jit
def mean_rows_kernel(
    Rows, Index, Count, Out, width, columns,
    stride_request, stride_row, stride_index, stride_out_request, stride_out_row,
    SIZE: tl.constexpr, INDEXED: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: BLOCK columns of the mean of SIZE rows; the request's last rows if LAST."""
    request = tl.program_id(2).to(tl.int64)
    group = tl.program_id(1)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    count = tl.minimum(tl.load(Count + request), width)
    if LAST:
        start, end = tl.maximum(count - SIZE, 0), count
    else:
        start, end = group * SIZE, tl.minimum((group + 1) * SIZE, count)
    total = tl.zeros((BLOCK,), tl.float32)
    for j in tl.range(start, end):
        if INDEXED:
            row = Rows + tl.load(Index + request * stride_index + j).to(tl.int64) * stride_row
        else:
            row = Rows + request * stride_request + wide(j) * stride_row
        total += tl.load(row + column, mask=column < columns, other=0.0).to(tl.float32)
    mean = total / tl.maximum(end - start, 1).to(tl.float32)
    out = Out + request * stride_out_request + group.to(tl.int64) * stride_out_row + column
    tl.store(out, mean.to(Out.dtype.element_ty), mask=column < columns)
