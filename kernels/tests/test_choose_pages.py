"""choose_pages against its specification, and against the selector in torch that runs where there is no GPU."""

from dataclasses import replace

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.choose_pages import Due, choose_pages, naive_choose_pages, naive_page_scores
from reprise_pages.selectors import AttentionMass

SLOTS, ROWS, SINKS, RECENT, SCALE = 4, 6, 1, 2, 0.3


def case(dtype, seed, requests, most, key_heads, group, head_dim):
    """Returns a step's queries, moments and requests, of which each has its own number of pages."""
    random = generator(seed)
    query = normal((ROWS, key_heads * group, head_dim), dtype, random)
    moments = normal((SLOTS, key_heads, 2 * head_dim, most + 3), torch.float32, random)
    moments[:, :, head_dim:].abs_()
    full = torch.randint(1, most + 1, (requests,), generator=random)
    listed = torch.minimum(full, SINKS + RECENT + torch.randint(most, (requests,), generator=random))
    rows, slots, at = (torch.randperm(n, generator=random)[:requests] for n in (ROWS, SLOTS, ROWS))
    source = torch.stack([torch.randperm(most + 5, generator=random) for _ in range(requests)])
    where = indices(torch.stack((rows, slots, full, listed, at), 1))
    return query, moments, Due(where, indices(source), most)


shapes = {
    "seed": st.integers(0, 2**32 - 1), "requests": st.integers(1, SLOTS), "most": st.integers(1, 150),
    "key_heads": st.sampled_from([1, 2]), "group": st.sampled_from([1, 3, 4]), "head_dim": st.sampled_from([16, 40]),
    "tokens": st.sampled_from([16, 32]),
}  # fmt: skip


def check(query, moments, due, tokens):
    """Chooses pages and asserts that they are those of the specification, or as good within rounding."""
    chosen = torch.full((SLOTS, due.most + 2), -1, dtype=torch.int32, device=DEVICE)
    table = torch.full((ROWS, due.most + 1), -1, dtype=torch.int32, device=DEVICE)
    choose_pages(query, moments, due, tokens, SCALE, SINKS, RECENT, chosen, table)
    chosen, table = chosen.cpu(), table.cpu()
    expected = naive_choose_pages(query.cpu(), moments.cpu(), due.where.cpu(), tokens, SCALE, SINKS, RECENT)
    for request, (query_row, slot, full, listed, row) in enumerate(due.where.tolist()):
        blocks, place = chosen[slot, :listed], torch.empty(int(due.source.max()) + 1, dtype=torch.int64)
        place[due.source[request].cpu().long()] = torch.arange(due.source.shape[1])
        pages = place[blocks.long()]
        assert torch.all(pages[1:] > pages[:-1]) and torch.all(pages < full)
        # pages that only one of the two has are as good as those that only the other has
        scores = naive_page_scores(query[query_row].cpu().double() * SCALE, moments[slot, ..., :full].cpu(), tokens)
        others = [float(scores[page] / scores.max()) for page in set(pages.tolist()) ^ set(expected[request].tolist())]
        assert max(others, default=0) - min(others, default=0) < 1e-4
        assert torch.equal(table[row, :listed], blocks)
        assert torch.all(chosen[slot, listed:] == -1) and torch.all(table[row, listed:] == -1)
        chosen[slot], table[row] = -1, -1
    # nothing else is written
    assert torch.all(chosen == -1) and torch.all(table == -1)


@pytest.mark.parametrize("dtype", DTYPES)
@given(**shapes)
def test_pages_are_chosen_as_specified(dtype, tokens, **sizes):
    check(*case(dtype, **sizes), tokens)


def test_of_pages_alike_the_first_are_listed():
    for seed in range(4):
        query, moments, due = case(torch.float32, seed, requests=3, most=150, key_heads=2, group=3, head_dim=16)
        moments[..., 1::2] = moments[..., :1]
        check(query, moments, due, 16)


@given(**shapes)
def test_the_selector_in_torch_scores_as_specified(tokens, **sizes):
    query, moments, due = case(torch.float32, **sizes)
    row, slot, full, _, _ = due.where.long().unbind(1)
    scaled = query[row].view(len(row), moments.shape[1], -1, query.shape[2]) * SCALE
    there = torch.arange(due.most, device=DEVICE) < full[:, None]
    scores = AttentionMass().scores(scaled, moments[slot][..., : due.most], there, tokens)
    for request, count in enumerate(full.tolist()):
        of_slot = moments[slot[request], ..., :count].cpu()
        expected = naive_page_scores(query[row[request]].cpu() * SCALE, of_slot, tokens)
        assert_close("scores", scores[request, :count], expected)


def test_tensors_that_do_not_fit_are_refused():
    query, moments, due = case(torch.float32, 0, requests=2, most=9, key_heads=2, group=2, head_dim=16)
    chosen, table = (torch.zeros(n, 9, dtype=torch.int32, device=DEVICE) for n in (SLOTS, ROWS))
    rest = (16, SCALE, SINKS, RECENT, chosen)
    with pytest.raises(ValueError, match="as many must go to each"):
        choose_pages(query[:, :3], moments, due, *rest, table)
    with pytest.raises(ValueError, match="up to 13 pages"):
        choose_pages(query, moments, replace(due, most=13), *rest, table)
    with pytest.raises(ValueError, match="must be contiguous"):
        choose_pages(query, moments, due, *rest, table[:, ::2])
