"""choose_pages against its specification, and against the selector in torch that runs where there is no GPU."""

from dataclasses import replace

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.choose_pages import Due, choose_pages, dispatch, naive_choose_pages, naive_page_scores
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
    return query, moments, Due(where, indices(source), most, indices(torch.tensor([requests])))


shapes = {
    "seed": st.integers(0, 2**32 - 1), "requests": st.integers(1, SLOTS), "most": st.integers(1, 150),
    "key_heads": st.sampled_from([1, 2]), "group": st.sampled_from([1, 3, 4]), "head_dim": st.sampled_from([16, 40]),
    "tokens": st.sampled_from([16, 32]),
}  # fmt: skip


def empty(due):
    """Returns lists and a table in which nothing is written."""
    sizes = (SLOTS, due.most + 2), (ROWS, due.most + 1)
    return tuple(torch.full(size, -1, dtype=torch.int32, device=DEVICE) for size in sizes)


def check(query, moments, due, tokens):
    """Chooses pages and asserts that they are those of the specification, or as good within rounding."""
    chosen, table = empty(due)
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


@given(**shapes, due_now=st.integers(0, SLOTS))
def test_requests_that_do_not_choose_keep_their_lists(tokens, due_now, **sizes):
    query, moments, due = case(torch.float32, **sizes)
    given, fresh = (empty(due) for _ in range(2))
    rest = (tokens, SCALE, SINKS, RECENT)
    choose_pages(query, moments, due, *rest, *given)
    due_now = min(due_now, len(due.where))
    # the others' queries and summaries are other ones by now
    query, moments = query.clone(), moments.clone()
    kept = due.where[due_now:].long()
    query[kept[:, 0]], moments[kept[:, 1]] = torch.nan, torch.nan
    chosen, table = given[0].clone(), fresh[1]
    due.count.fill_(due_now)
    choose_pages(query, moments, due, *rest, chosen, table)
    assert torch.equal(chosen, given[0]) and torch.equal(table, given[1])
    if due_now == 0:
        table.fill_(-1)
        choose_pages(query, moments, due, *rest, chosen, table, only_list=True)
        assert torch.equal(chosen, given[0]) and torch.equal(table, given[1])


def test_of_a_step_without_requests_nothing_is_written():
    query, moments, due = case(torch.float32, 0, requests=3, most=150, key_heads=2, group=3, head_dim=16)
    due.where.zero_()
    due.count.zero_()
    given = empty(due)
    choose_pages(query, moments, due, 16, SCALE, SINKS, RECENT, *given)
    assert all(torch.all(one == -1) for one in given)


@pytest.mark.parametrize("requests", [1, 3])
def test_few_programs_share_the_pages_of_all_requests(requests, monkeypatch):
    monkeypatch.setattr(dispatch, "_PROGRAMS", 4)
    for seed in range(3):
        check(*case(torch.float32, seed, requests=requests, most=150, key_heads=2, group=3, head_dim=16), 16)


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
