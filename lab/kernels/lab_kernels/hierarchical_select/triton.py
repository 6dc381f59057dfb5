"""The Triton kernels of hierarchical_select: one scores, the other selects."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.radix_select import digit_of_rank, order_preserving


@triton.jit
def score_pages_kernel(
    Anchor, Summaries, PageTable, PageCount, Scores, columns,
    stride_anchor, stride_row, stride_table, stride_scores, recent,
    BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """One program: the scores of BLOCK_P candidates of one request."""
    request = tl.program_id(1).to(tl.int64)
    page = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    # tables are contiguous, so a row's stride is also its length
    candidate = page < tl.minimum(tl.load(PageCount + request), stride_table) - recent
    row = tl.load(PageTable + request * stride_table + page, mask=candidate, other=0).to(tl.int64) * stride_row
    c = tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_P,), tl.float32)
    for start in tl.range(0, columns, BLOCK_C):
        inside = start + c < columns
        anchor = tl.load(Anchor + request * stride_anchor + start + c, mask=inside, other=0.0).to(tl.float32)
        there = candidate[:, None] & inside[None, :]
        summary = tl.load(Summaries + row[:, None] + (start + c)[None, :], mask=there, other=0.0).to(tl.float32)
        total += tl.sum(summary * anchor[None, :], 1)
    tl.store(Scores + request * stride_scores + page, total, mask=candidate)


@triton.jit
def _reaches(scores, there, active, dropped, AMONG_ACTIVE: tl.constexpr):
    """Returns which active units of a level reach its threshold: the score of rank ceil(dropped (n - 1)), exactly."""
    if AMONG_ACTIVE:
        counted = active
    else:
        counted = there
        scores = tl.where(active, scores, 0.0)
    keys = order_preserving(scores)
    n = tl.sum(counted.to(tl.int32), 0)
    from_below = ((n - 1).to(tl.int64) * dropped + 999999) // 1000000
    prefix, rank = tl.full((), 0, tl.int64), n - from_below.to(tl.int32)
    for byte in tl.static_range(4):
        shift = 24 - 8 * byte
        alike = counted & ((keys >> (shift + 8)) == prefix)
        counts = tl.histogram(((keys >> shift) & 255).to(tl.int32), 256, mask=alike)
        digit, above = digit_of_rank(counts, rank, 256)
        prefix, rank = prefix * 256 + digit, rank - above
    return active & (keys >= prefix)


@triton.jit
def hierarchical_select_kernel(
    Scores, PageCount, Chosen, Count, stride_scores, stride_chosen, width, sinks, recent,
    drop_grids, drop_chunks, drop_pages,
    CHUNKS: tl.constexpr, PAGES: tl.constexpr, AMONG_ACTIVE: tl.constexpr,
    BLOCK_G: tl.constexpr, BLOCK_CH: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    """One program per request, its pages as [grids, chunks per grid, pages per chunk], padded to powers of 2."""
    request = tl.program_id(0).to(tl.int64)
    count = tl.minimum(tl.load(PageCount + request), width)
    grid = tl.arange(0, BLOCK_G)[:, None, None]
    chunk = tl.arange(0, BLOCK_CH)[None, :, None]
    within = tl.arange(0, BLOCK_P)[None, None, :]
    page = (grid * CHUNKS + chunk) * PAGES + within
    real = (chunk < CHUNKS) & (within < PAGES)
    candidate = real & (page < count - recent)
    scores = tl.load(Scores + request * stride_scores + page, mask=candidate, other=0.0)

    pages_there = tl.sum(candidate.to(tl.int32), 2)  # [BLOCK_G, BLOCK_CH]
    chunk_scores = tl.sum(scores, 2) / tl.maximum(pages_there, 1).to(tl.float32)
    chunk_there = pages_there > 0
    chunks_there = tl.sum(chunk_there.to(tl.int32), 1)  # [BLOCK_G]
    grid_scores = tl.sum(chunk_scores, 1) / tl.maximum(chunks_there, 1).to(tl.float32)
    grid_there = chunks_there > 0

    grid_kept = _reaches(grid_scores, grid_there, grid_there, drop_grids, AMONG_ACTIVE)
    chunk_active = chunk_there & (grid_kept.to(tl.int32)[:, None] > 0)
    ALL_CHUNKS: tl.constexpr = BLOCK_G * BLOCK_CH
    chunk_kept = _reaches(
        tl.reshape(chunk_scores, (ALL_CHUNKS,)), tl.reshape(chunk_there.to(tl.int32), (ALL_CHUNKS,)) > 0,
        tl.reshape(chunk_active.to(tl.int32), (ALL_CHUNKS,)) > 0, drop_chunks, AMONG_ACTIVE,
    )  # fmt: skip
    parent_kept = tl.reshape(chunk_kept.to(tl.int32), (BLOCK_G, BLOCK_CH))[:, :, None] > 0
    page_active = candidate & parent_kept
    ALL: tl.constexpr = BLOCK_G * BLOCK_CH * BLOCK_P
    page_kept = _reaches(
        tl.reshape(scores, (ALL,)), tl.reshape(candidate.to(tl.int32), (ALL,)) > 0,
        tl.reshape(page_active.to(tl.int32), (ALL,)) > 0, drop_pages, AMONG_ACTIVE,
    )  # fmt: skip

    always = real & (page < count) & ((page < sinks) | (page >= count - recent))
    kept = page_kept.to(tl.int32) | tl.reshape(always.to(tl.int32), (ALL,))
    taken = tl.sum(kept, 0)
    chosen = Chosen + request * stride_chosen
    # the shape keeps the order of pages, so a running sum gives their places
    tl.store(chosen + tl.cumsum(kept, 0) - 1, tl.reshape(page, (ALL,)), mask=kept > 0)
    tl.store(Count + request, taken)
    place = tl.arange(0, ALL)
    tl.store(chosen + place, -1, mask=(place >= taken) & (place < width))
