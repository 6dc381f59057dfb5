"""Sparse prefill and decode attention against torch's dense kernels and FlashInfer's paged ones."""

from collections.abc import Callable, Iterator
from functools import cache

import torch
from comparison import assert_close
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from lab_kernels.bench.case import Case, Run, Shape
from lab_kernels.bench.flashinfer_rivals import flashinfer_decode, flashinfer_prefill
from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention
from reprise_kernels.sparse_prefill_attention import naive_sparse_prefill_attention, sparse_prefill_attention

CHECKED_ROWS = 8
LISTED = 0.05


def paged(shape: Shape, requests: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns keys and values [pages, page_size, Hkv, D], and each request's pages, permuted."""
    count = shape.context // shape.page_size
    size = (requests * count, shape.page_size, shape.kv_heads, shape.head_dim)
    return shape.randn(*size), shape.randn(*size), torch.randperm(requests * count).view(requests, count)


def prefill_cases(shape: Shape) -> Iterator[Case]:
    """Recomputed tokens at several ratios plus the question, over one context."""
    for ratio in shape.ratios:
        k, v, pages = paged(shape, 1)
        chosen = torch.randperm(shape.context - shape.question)[: int(ratio * shape.context)].sort().values
        q_pos = torch.cat([chosen, torch.arange(shape.context - shape.question, shape.context)])
        slots = (pages[:, :, None] * shape.page_size + torch.arange(shape.page_size)).flatten(1)
        q = shape.randn(len(q_pos), shape.q_heads, shape.head_dim)
        indices = [shape.indices(one) for one in (q_pos, torch.tensor([0, len(q_pos)]), slots)]
        length = shape.indices(torch.tensor([shape.context]))
        seen = float((q_pos + 1).sum())
        run = _prefill(q, indices, k, v, length)
        yield Case(
            f"sparse_prefill_attention, {ratio:.0%} recomputed",
            run,
            _check_prefill(q, indices, k, v, length),
            4 * shape.head_dim * shape.q_heads * seen,
            2.0 * shape.context * shape.kv_heads * shape.head_dim * k.element_size(),
            "flops",
            {
                "SDPA flash, dense": lambda: _dense(shape, SDPBackend.FLASH_ATTENTION),
                "SDPA cuDNN, dense": lambda: _dense(shape, SDPBackend.CUDNN_ATTENTION),
                "FlexAttention, same positions": lambda q=q, q_pos=indices[0]: _flex(shape, q, q_pos),
                "FlashInfer, same positions": flashinfer_prefill(shape, q, indices[0], k, v, pages, run),
            },
        )


def _prefill(
    q: torch.Tensor, indices: list[torch.Tensor], k: torch.Tensor, v: torch.Tensor, length: torch.Tensor
) -> Run:
    q_pos, cu_q, slots = indices
    return lambda: sparse_prefill_attention(q, q_pos, cu_q, k, v, slots, length)


def _check_prefill(
    q: torch.Tensor, indices: list[torch.Tensor], k: torch.Tensor, v: torch.Tensor, length: torch.Tensor
) -> Run:
    rows = torch.randperm(len(q))[:CHECKED_ROWS].sort().values

    @cache
    def expected() -> torch.Tensor:
        q_pos, _, slots = (one.cpu() for one in indices)
        some = (q.cpu()[rows], q_pos[rows], torch.tensor([0, len(rows)]), k.cpu(), v.cpu(), slots, length.cpu())
        return naive_sparse_prefill_attention(*some)[0]

    def check() -> None:
        out, _ = _prefill(q, indices, k, v, length)()
        assert_close("out", out.cpu()[rows], expected())

    return check


def _dense(shape: Shape, backend: SDPBackend) -> Run:
    q = shape.randn(1, shape.q_heads, shape.context, shape.head_dim)
    k, v = (shape.randn(1, shape.kv_heads, shape.context, shape.head_dim) for _ in range(2))

    def run() -> torch.Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    return run


def _flex(shape: Shape, q: torch.Tensor, q_pos: torch.Tensor) -> Run:
    def mask(b: torch.Tensor, h: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        return column <= q_pos[row]

    if shape.device != "cuda":
        raise RuntimeError("on a CPU it is compiled for minutes")
    compiled = torch.compile(flex_attention)
    blocks = create_block_mask(mask, None, None, len(q), shape.context, device=shape.device)
    queries = q.transpose(0, 1)[None].contiguous()
    k, v = (shape.randn(1, shape.kv_heads, shape.context, shape.head_dim) for _ in range(2))
    return lambda: compiled(queries, k, v, block_mask=blocks, enable_gqa=True)


def decode_cases(shape: Shape) -> Iterator[Case]:
    """One query per request, over all pages and over listed pages."""
    for requests in shape.batches:
        k, v, pages = paged(shape, requests)
        q = shape.randn(requests, shape.q_heads, shape.head_dim)
        table, length = shape.indices(pages), shape.indices(torch.full((requests,), shape.context))
        count = max(int(LISTED * pages.shape[1]), 1)
        listed = torch.stack([torch.randperm(pages.shape[1])[:count].sort().values for _ in range(requests)])
        page_list = {"page_list": shape.indices(listed), "page_count": shape.indices(torch.full((requests,), count))}
        for name, extra, read in (
            ("all pages", {}, pages), (f"{LISTED:.0%} of the pages", page_list, pages.gather(1, listed)),
        ):  # fmt: skip
            where, tokens = {"kv_len": length, "page_table": table, **extra}, read.shape[1] * shape.page_size
            run = lambda q=q, k=k, v=v, where=where: sparse_decode_attention(q, k, v, **where)  # noqa: E731
            yield Case(
                f"sparse_decode_attention, {name}, batch {requests}",
                run,
                _check_decode(q, k, v, where),
                4.0 * requests * tokens * shape.q_heads * shape.head_dim,
                2.0 * requests * tokens * shape.kv_heads * shape.head_dim * k.element_size(),
                "read",
                {
                    "SDPA, contiguous, all tokens": _contiguous(shape, q, requests),
                    "FlashInfer, same pages": flashinfer_decode(shape, q, k, v, read, run),
                },
            )


def _check_decode(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, where: dict[str, torch.Tensor]) -> Run:
    @cache
    def expected() -> torch.Tensor:
        last = {name: tensor[-1:].cpu() for name, tensor in where.items()}
        return naive_sparse_decode_attention(q[-1:].cpu(), *_pages_of(k, v, last), **last)[0]

    def check() -> None:
        out, _ = sparse_decode_attention(q, k, v, **where)
        assert_close("out", out[-1:], expected())

    return check


def _pages_of(k: torch.Tensor, v: torch.Tensor, last: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the caches of one request, and adapts its page table: all caches in float64 would not fit in memory."""
    pages = last["page_table"][0].long().to(k.device)
    last["page_table"] = torch.arange(len(pages))[None]
    return k[pages].cpu(), v[pages].cpu()


def _contiguous(shape: Shape, q: torch.Tensor, requests: int) -> Callable[[], Run]:
    def make() -> Run:
        size = (requests, shape.kv_heads, shape.context, shape.head_dim)
        k, v = shape.randn(*size), shape.randn(*size)
        return lambda: scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)

    return make
