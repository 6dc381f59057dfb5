"""The query rows of a program: a tile of tokens from one request, with all query heads of one key head."""

import triton
import triton.language as tl


@triton.jit
def find_request(CuQ, tile, requests, BLOCK_B: tl.constexpr, BLOCK_Q: tl.constexpr):
    """Returns the request that query tile `tile` belongs to, its first row, and the tile's number within it.

    Request b's tiles begin at cu_q[b] // BLOCK_Q + b; it may have one too many, so that the grid depends only on
    shapes.
    """
    b = tl.arange(0, BLOCK_B)
    starts = tl.load(CuQ + b, mask=b < requests, other=2147483647)
    request = tl.sum(((b < requests) & (starts // BLOCK_Q + b <= tile)).to(tl.int32), 0) - 1
    first_row = tl.load(CuQ + request)
    return request, first_row, tile - (first_row // BLOCK_Q + request)


@triton.jit
def rows_of_tile(
    CuQ, QPos, request, first_row, local, GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_Q: tl.constexpr
):
    """Row m is query token m // GROUP with head m % GROUP of the group: token [M] in q, position [M], live [M]."""
    m = tl.arange(0, BLOCK_M)
    within = local * BLOCK_Q + m // GROUP
    live = (m // GROUP < BLOCK_Q) & (first_row + within < tl.load(CuQ + request + 1))
    token = first_row + within
    return token, tl.load(QPos + token, mask=live, other=-1), live


@triton.jit
def store_rows(
    Out, Lse, out, lse, token, head, live, stride_out_token, stride_out_head, stride_lse_token,
    HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """Writes a tile's outputs [M, D] and log-sum-exps [M]."""
    d = tl.arange(0, BLOCK_D)
    place = token.to(tl.int64)[:, None] * stride_out_token + head[:, None] * stride_out_head + d[None, :]
    tl.store(Out + place, out.to(Out.dtype.element_ty), mask=live[:, None] & (d < HEAD_DIM)[None, :])
    tl.store(Lse + token.to(tl.int64) * stride_lse_token + head, lse, mask=live)
