"""FlashInfer's paged attention on our caches, if it is installed.

Plans are made in advance and not timed, because an engine makes them once for all layers. Each plan's result is
compared with ours: a rival that computes something else gets no number.
"""

import importlib
from collections.abc import Callable

import torch
from comparison import assert_close

from lab_kernels.bench.case import Run, Shape

WORKSPACE_BYTES = 512 << 20
COMPARED_ROWS = 8


def flashinfer_prefill(
    shape: Shape, q: torch.Tensor, q_pos: torch.Tensor, k: torch.Tensor, v: torch.Tensor, pages: torch.Tensor, ours: Run
) -> Callable[[], Run]:
    """One request's queries at these positions: paged prefill with a custom mask of the keys that each query sees."""

    def make() -> Run:
        wrapper = importlib.import_module("flashinfer").BatchPrefillWithPagedKVCacheWrapper(_workspace(shape), "NHD")
        mask = torch.arange(shape.context, device=shape.device) <= q_pos[:, None]
        wrapper.plan(
            shape.indices(torch.tensor([0, len(q)])), *_pages_of(shape, pages), *_sizes(shape),
            custom_mask=mask.flatten(), q_data_type=shape.dtype, kv_data_type=shape.dtype,
        )  # fmt: skip
        return _compared(lambda: wrapper.run(q, (k, v)), ours)

    return make


def flashinfer_decode(
    shape: Shape, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, pages: torch.Tensor, ours: Run
) -> Callable[[], Run]:
    """One query per request over these pages [B, n] of the cache, all of them full."""

    def make() -> Run:
        flashinfer = importlib.import_module("flashinfer")
        # with grouped query heads, the tensor-core kernel is the faster one
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(_workspace(shape), "NHD", use_tensor_cores=True)
        wrapper.plan(
            *_pages_of(shape, pages), *_sizes(shape), q_data_type=shape.dtype, kv_data_type=shape.dtype,
        )  # fmt: skip
        return _compared(lambda: wrapper.run(q, (k, v)), ours)

    return make


def _workspace(shape: Shape) -> torch.Tensor:
    # must be zeros at first use
    return torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=shape.device)


def _sizes(shape: Shape) -> tuple[int, int, int, int]:
    return shape.q_heads, shape.kv_heads, shape.head_dim, shape.page_size


def _pages_of(shape: Shape, pages: torch.Tensor) -> list[torch.Tensor]:
    """Returns where each request's pages begin, the pages, and how many tokens each request's last page holds."""
    requests, count = pages.shape
    starts = torch.arange(requests + 1) * count
    return [shape.indices(one) for one in (starts, pages.flatten(), torch.full((requests,), shape.page_size))]


def _compared(theirs: Callable[[], torch.Tensor], ours: Run) -> Run:
    expected, actual = ours(), theirs()
    assert isinstance(expected, tuple)
    some = torch.randperm(len(actual))[:COMPARED_ROWS].to(actual.device)
    assert_close("what FlashInfer computes", actual[some], expected[0][some])
    return theirs
