"""Kernels that read all their data once, against torch's own operations on contiguous tensors."""

from collections.abc import Iterator

import torch
from comparison import assert_close

from lab_kernels.bench.attention_cases import paged
from lab_kernels.bench.case import Case, Shape
from lab_kernels.kv_deviation import kv_deviation
from lab_kernels.page_summary import mean_rows, naive_mean_rows, naive_page_summary, page_summary
from lab_kernels.weighted_deviation import weighted_deviation
from reprise_kernels.generation_uncertainty import generation_uncertainty
from reprise_kernels.generation_uncertainty.naive import naive_entropy

CHECKED = 4
CHUNK_PAGES = 16


def deviation_cases(shape: Shape) -> Iterator[Case]:
    """Distance of one layer's cached values from fresh ones, unweighted and weighted by attention."""
    _, v, pages = paged(shape, 1)
    slots = (pages[:, :, None] * shape.page_size + torch.arange(shape.page_size)).flatten(1)
    stale = v.flatten(0, 1)[slots[0].to(shape.device)].contiguous()
    fresh = shape.randn(*stale.shape)
    where = [shape.indices(one) for one in (torch.tensor([0, shape.context]), slots, torch.tensor([shape.context]))]
    weights = [torch.rand(1, shape.context, device=shape.device) for _ in range(2)]
    plain = lambda: kv_deviation([fresh], [v], *where)  # noqa: E731
    weighted = lambda: weighted_deviation(*weights, fresh, v, *where)  # noqa: E731
    columns = [each[0, :, None, None].double() for each in weights]

    def check_plain() -> None:
        assert_close("deviation", plain()[0], (fresh.double() - stale.double()).square().sum((1, 2)), torch.float32)

    def check_weighted() -> None:
        apart = fresh.double() * columns[0] - stale.double() * columns[1]
        assert_close("deviation", weighted()[0], apart.square().sum((1, 2)), torch.float32)

    def torch_plain() -> torch.Tensor:
        return (fresh - stale).float().square().sum((1, 2))

    def torch_weighted() -> torch.Tensor:
        apart = fresh * weights[0][0, :, None, None] - stale * weights[1][0, :, None, None]
        return apart.square().sum((1, 2))

    size, flops = 2.0 * stale.numel() * stale.element_size(), 3.0 * stale.numel()
    rival = {"torch, contiguous": lambda: torch_plain}
    yield Case("kv_deviation, values", plain, check_plain, flops, size, "read", rival)
    rival = {"torch, contiguous": lambda: torch_weighted}
    yield Case("weighted_deviation, values", weighted, check_weighted, 5.0 / 3 * flops, size, "read", rival)


def summary_cases(shape: Shape) -> Iterator[Case]:
    """The mean keys of all pages of one layer, and the centroids of their chunks."""
    k, _, pages = paged(shape, 1)
    count = len(k)
    ids, tokens = shape.indices(pages[0]), shape.indices(torch.full((count,), shape.page_size))
    out = shape.randn(count, 1, shape.kv_heads * shape.head_dim)
    run = lambda: page_summary(k, ids, tokens, 0, out)  # noqa: E731

    def check() -> None:
        assert_close("summaries", run(), naive_page_summary(k.cpu(), ids.cpu(), tokens.cpu(), 0, out.cpu()))

    size = float((k.numel() + out.numel()) * k.element_size())
    rival = {"torch mean, contiguous": lambda: lambda: k.mean(1)}
    yield Case("page_summary, all pages", run, check, float(k.numel()), size, "read", rival)
    rows, index, length = out[:, 0], shape.indices(pages), shape.indices(torch.tensor([count]))
    means = lambda: mean_rows(rows, length, CHUNK_PAGES, index)  # noqa: E731

    def check_means() -> None:
        expected = naive_mean_rows(rows.cpu(), length.cpu(), CHUNK_PAGES, index.cpu())
        assert_close("centroids", means(), expected, shape.dtype)

    size = float(rows.numel() * rows.element_size())
    whole = rows[: count // CHUNK_PAGES * CHUNK_PAGES].unflatten(0, (-1, CHUNK_PAGES))
    rival = {"torch mean, contiguous": lambda: lambda: whole.mean(1)}
    yield Case("mean_rows, chunks", means, check_means, float(rows.numel()), size, "read", rival)


def uncertainty_cases(shape: Shape) -> Iterator[Case]:
    """The entropy of a batch's next tokens."""
    for requests in sorted({shape.batches[0], shape.batches[-1]}):
        logits = torch.randn(requests, shape.vocabulary, device=shape.device)
        state = torch.zeros(requests, 3, device=shape.device)

        def run(logits: torch.Tensor = logits, state: torch.Tensor = state) -> torch.Tensor:
            return generation_uncertainty(logits, state, shape.page_size, 1.0, 1.0).entropy

        def check(logits: torch.Tensor = logits, state: torch.Tensor = state) -> None:
            assert_close("entropy", run(logits, state)[:CHECKED], naive_entropy(logits[:CHECKED].cpu()))

        def torch_entropy(logits: torch.Tensor = logits) -> torch.Tensor:
            logarithms = logits.log_softmax(1)
            return -(logarithms.exp() * logarithms).sum(1)

        yield Case(
            f"generation_uncertainty, batch {requests}", run, check, 6.0 * logits.numel(), 4.0 * logits.numel(),
            "read", {"torch log_softmax": lambda torch_entropy=torch_entropy: torch_entropy}, graph=True,
        )  # fmt: skip
