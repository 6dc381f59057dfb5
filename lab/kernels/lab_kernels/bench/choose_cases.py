"""The benchmark's cases of choose_pages."""

from collections.abc import Iterator

import torch

from lab_kernels.bench.case import Case, Run, Shape
from reprise_kernels.choose_pages import Due, choose_pages, naive_page_scores

_RATIO, _SINKS, _RECENT = 0.1, 1, 2


def choose_cases(shape: Shape) -> Iterator[Case]:
    """Chooses a tenth of the pages of each request in one layer."""
    for requests in (shape.batches[0], shape.batches[-1]):
        pages, scale = shape.context // shape.page_size, shape.head_dim**-0.5
        query = shape.randn(requests, shape.q_heads, shape.head_dim)
        moments = shape.randn(requests, shape.kv_heads, 2 * shape.head_dim, pages, dtype=torch.float32)
        moments[:, :, shape.head_dim :].abs_()
        listed, each = max(_SINKS + _RECENT, round(_RATIO * pages)), torch.arange(requests)
        counts = torch.full_like(each, pages), torch.full_like(each, listed)
        source = shape.indices(torch.randperm(requests * pages).view(requests, pages))
        where = shape.indices(torch.stack((each, each, *counts, each), 1))
        due = Due(where, source, pages, shape.indices(torch.tensor([requests])))
        chosen, table = (torch.zeros(requests, pages, dtype=torch.int32, device=shape.device) for _ in range(2))
        rest = (shape.page_size, scale, _SINKS, _RECENT, chosen, table)

        def run(query=query, moments=moments, due=due, rest=rest) -> None:
            choose_pages(query, moments, due, *rest)

        def check(query=query, moments=moments, due=due, rest=rest, listed=listed, run=run) -> None:
            run()
            blocks = rest[4][0, :listed].cpu()
            place = torch.zeros(due.source.numel(), dtype=torch.int64)
            place[due.source[0].cpu().long()] = torch.arange(due.most)
            taken = torch.zeros(due.most, dtype=torch.bool)
            taken[place[blocks.long()]] = True
            scores = naive_page_scores(query[0].cpu().double() * rest[1], moments[0].cpu(), rest[0])
            # these are always listed
            scores[:_SINKS], scores[-_RECENT:] = torch.inf, torch.inf
            others = scores[~taken].max()
            if int(taken.sum()) != listed or float(scores[taken].min() / others) < 1 - 1e-3:
                raise AssertionError(f"{int(taken.sum())} pages are listed, the worst at {float(scores[taken].min())}")

        def in_torch(query=query, moments=moments, due=due, listed=listed, tokens=shape.page_size, scale=scale) -> Run:
            from reprise_pages.choice import always_listed, best_pages
            from reprise_pages.selectors import AttentionMass

            there = torch.ones(len(query), due.most, dtype=torch.bool, device=query.device)
            always = always_listed(there.sum(1), due.most, _SINKS, _RECENT)

            def choose() -> torch.Tensor:
                mine = query.float().view(len(query), moments.shape[1], -1, query.shape[2]) * scale
                scores = AttentionMass().scores(mine, moments, there, tokens)
                return due.source.gather(1, best_pages(scores, always, listed))

            return choose

        yield Case(
            f"choose_pages, batch {requests}", run, check,
            4.0 * requests * shape.q_heads * shape.head_dim * pages, float(moments.numel() * 4), "read",
            {"torch": in_torch}, graph=True,
        )  # fmt: skip
