"""The Triton kernels of choose_pages: the mass of each page, the score of each page, the list."""

import triton
import triton.language as tl

from reprise_kernels.device_functions.radix_select import digit_of_rank, order_preserving


@triton.jit
def page_mass_kernel(
    Query, Moments, Where, Due, Mass, Parts, scale, end,
    stride_row, stride_q_head, stride_slot, stride_head, stride_number, stride_mass, blocks,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_G: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    """One program: blocks of BLOCK_P pages of requests that choose, for the query heads of one key head.

    Writes each head's logarithm of a page's mass, and of the block its largest one and the sum of exp(mass - largest).
    """
    head, due = tl.program_id(1), tl.load(Due)
    g, d = tl.arange(0, BLOCK_G), tl.arange(0, BLOCK_D)
    in_group = g < GROUP
    for number in tl.range(tl.program_id(2), due, tl.num_programs(2)):
        request = tl.cast(number, tl.int64)
        row, slot = tl.load(Where + request * 5).to(tl.int64), tl.load(Where + request * 5 + 1).to(tl.int64)
        full = tl.load(Where + request * 5 + 2)
        queries = Query + row * stride_row + (head * GROUP + g)[:, None] * stride_q_head
        of_head = Moments + slot * stride_slot + head.to(tl.int64) * stride_head
        first = request * (tl.num_programs(1) * GROUP) + head * GROUP + g
        for block in tl.range(tl.program_id(0), tl.cdiv(full, BLOCK_P), tl.num_programs(0)):
            page = block * BLOCK_P + tl.arange(0, BLOCK_P)
            inside = page < full
            moments = of_head + page[None, :]
            mean, variance = tl.zeros((BLOCK_G, BLOCK_P), tl.float32), tl.zeros((BLOCK_G, BLOCK_P), tl.float32)
            for start in tl.static_range(0, HEAD_DIM, BLOCK_D):
                there = start + d < HEAD_DIM
                q = tl.load(queries + (start + d)[None, :], mask=in_group[:, None] & there[None, :], other=0.0)
                q = q.to(tl.float32)[:, :, None] * scale
                number_of = (start + d)[:, None] * stride_number
                known = there[:, None] & inside[None, :]
                m = tl.load(moments + number_of, mask=known, other=0.0)
                v = tl.load(moments + HEAD_DIM * stride_number + number_of, mask=known, other=0.0)
                mean += tl.sum(q * m[None, :, :], 1)
                variance += tl.sum(q * q * v[None, :, :], 1)
            spread = tl.sqrt(tl.maximum(variance, 0.0))
            held = tl.minimum(spread, end)
            mass = mean + held * (spread - 0.5 * held)
            written = in_group[:, None] & inside[None, :]
            tl.store(Mass + first[:, None] * stride_mass + page[None, :], mass, mask=written)
            mass = tl.where(written, mass, float("-inf"))
            largest = tl.max(mass, 1)
            total = tl.sum(tl.exp(mass - tl.where(in_group, largest, 0.0)[:, None]), 1)
            parts = Parts + (first * blocks + block) * 2
            tl.store(parts, largest, mask=in_group)
            tl.store(parts + 1, total, mask=in_group)


@triton.jit
def page_score_kernel(
    Mass, Parts, Where, Due, Scores, stride_mass, blocks, sinks, recent,
    HEADS: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, MASS_P: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    """One program: the scores of blocks of BLOCK_P pages of requests that choose.

    MASS_P: the pages of a block of `page_mass_kernel`.
    """
    h, n, due = tl.arange(0, BLOCK_H), tl.arange(0, BLOCK_N), tl.load(Due)
    is_head = h < HEADS
    for number in tl.range(tl.program_id(1), due, tl.num_programs(1)):
        request = tl.cast(number, tl.int64)
        full = tl.load(Where + request * 5 + 2)
        first = request * HEADS + h
        for block in tl.range(tl.program_id(0), tl.cdiv(full, BLOCK_P), tl.num_programs(0)):
            known = is_head[:, None] & (n < tl.cdiv(full, MASS_P))[None, :]
            parts = Parts + (first[:, None] * blocks + n[None, :]) * 2
            largest = tl.load(parts, mask=known, other=float("-inf"))
            top = tl.where(is_head, tl.max(largest, 1), 0.0)
            totals = tl.load(parts + 1, mask=known, other=0.0) * tl.exp(largest - top[:, None])
            total = tl.where(is_head, tl.sum(totals, 1), 1.0)
            page = block * BLOCK_P + tl.arange(0, BLOCK_P)
            inside = is_head[:, None] & (page < full)[None, :]
            mass = tl.load(Mass + first[:, None] * stride_mass + page[None, :], mask=inside, other=float("-inf"))
            score = tl.sum(tl.exp(mass - top[:, None]) / total[:, None], 0)
            score = tl.where((page < sinks) | (page >= full - recent), float("inf"), score)
            tl.store(Scores + request * stride_mass + page, score, mask=page < full)


@triton.jit
def list_pages_kernel(
    Scores, Where, Due, Source, Chosen, Table, stride_scores, stride_source, stride_chosen, stride_table,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One program per request: finds the threshold byte by byte from the highest, then lists the pages that reach it.

    Of those that equal it the first ones are listed. Writes their blocks, in the order of the pages. Of a request that
    does not choose it copies the list to the table.
    """
    request, page = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    slot, row = tl.load(Where + request * 5 + 1).to(tl.int64), tl.load(Where + request * 5 + 4).to(tl.int64)
    full, wanted = tl.load(Where + request * 5 + 2), tl.load(Where + request * 5 + 3)
    chosen, table = Chosen + slot * stride_chosen, Table + row * stride_table
    if request >= tl.load(Due):
        for start in tl.range(0, wanted, BLOCK):
            listed = start + page < wanted
            tl.store(table + start + page, tl.load(chosen + start + page, mask=listed, other=0), mask=listed)
        return
    scores = Scores + request * stride_scores
    prefix, rank = tl.full((), 0, tl.int64), wanted
    for byte in tl.static_range(4):
        shift = 24 - 8 * byte
        counts = tl.zeros((256,), tl.int32)
        for start in tl.range(0, full, BLOCK):
            keys = order_preserving(tl.load(scores + start + page, mask=start + page < full, other=0.0))
            alike = (start + page < full) & ((keys >> (shift + 8)) == prefix)
            counts += tl.histogram(((keys >> shift) & 255).to(tl.int32), 256, mask=alike)
        digit, above = digit_of_rank(counts, rank, 256)
        prefix, rank = prefix * 256 + digit, rank - above
    taken, equal_before = tl.full((), 0, tl.int32), tl.full((), 0, tl.int32)
    for start in tl.range(0, full, BLOCK):
        inside = start + page < full
        keys = order_preserving(tl.load(scores + start + page, mask=inside, other=0.0))
        equal = (inside & (keys == prefix)).to(tl.int32)
        listed = (inside & (keys > prefix)) | ((equal == 1) & (equal_before + tl.cumsum(equal, 0) <= rank))
        listed = listed & (wanted > 0)
        place = taken + tl.cumsum(listed.to(tl.int32), 0) - 1
        block = tl.load(Source + request * stride_source + start + page, mask=listed, other=0)
        tl.store(chosen + place, block, mask=listed)
        tl.store(table + place, block, mask=listed)
        taken += tl.sum(listed.to(tl.int32), 0)
        equal_before += tl.sum(equal, 0)
