"""Which pages are listed: as many as the budget allows, always the safe ones, and the best of the others."""

from math import ceil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reprise_pages.affinity import CHUNKS_A_GRID, PAGES_A_CHUNK, KeyAffinity, coarse_to_fine
from reprise_pages.choice import always_listed, best_pages, budget_pages
from reprise_pages.mass import key_bounds, key_moments, log_mass, upper_bound
from reprise_pages.selectors import SELECTORS, AttentionMass

counts = st.lists(st.integers(1, 40), min_size=1, max_size=5)


@given(counts, st.floats(0, 1), st.integers(0, 2), st.integers(1, 3), st.integers(0, 1000))
def test_lists_have_their_length_no_page_twice_the_safe_pages_and_the_best_others(full, ratio, sinks, recent, seed):
    ends = torch.tensor(full)
    budget = budget_pages(np.array(full), np.full(len(full), ratio), sinks, recent)
    scores = torch.rand(len(full), max(full), generator=torch.Generator().manual_seed(seed))
    pages = best_pages(scores, always_listed(ends, max(full), sinks, recent), int(budget.max()))
    for end, count, row, score in zip(full, budget.tolist(), pages, scores, strict=True):
        kept = set(row[:count].tolist())
        safe = set(range(min(sinks, end))) | set(range(max(end - recent, 0), end))
        assert len(kept) == count == min(end, max(sinks + recent, round(ratio * end)))
        assert kept <= set(range(end))
        if count >= len(safe):
            assert safe <= kept
            others = sorted(set(range(end)) - safe, key=lambda page: -float(score[page]))
            assert kept - safe == set(others[: count - len(safe)])


def keys_of(seed: int, pages: int, spread: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    middle = torch.randn(pages, 1, 2, 8, generator=generator)
    return middle + spread * torch.randn(pages, 32, 2, 8, generator=generator)


def true_log_mass(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """log mean exp(q . k) of each page, [1, H, G, P]."""
    return torch.einsum("shgd,pthd->shgpt", query, keys).logsumexp(-1) - np.log(keys.shape[1])


@given(st.integers(0, 1000))
def test_quests_bound_is_never_below_any_key_of_the_page(seed):
    keys = keys_of(seed, 6)
    query = torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(seed + 1))
    bound = upper_bound(query, key_bounds(keys).permute(1, 2, 0)[None])
    assert bool((bound + 1e-4 >= torch.einsum("shgd,pthd->shgpt", query, keys).amax(-1)).all())


@pytest.mark.parametrize(("spread", "most", "mean"), [(0.1, 0.05, 0.01), (0.5, 0.9, 0.1)])
def test_the_estimate_is_the_mass_where_keys_of_a_page_are_alike(spread, most, mean):
    errors = []
    for seed in range(200):
        keys = keys_of(seed, 6, spread)
        query = 0.5 * torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(seed + 1))
        estimate = log_mass(query, key_moments(keys).permute(1, 2, 0)[None], 32)
        errors.append((estimate - true_log_mass(query, keys)).abs())
    assert float(torch.stack(errors).max()) < most
    assert float(torch.stack(errors).mean()) < mean


def test_beyond_a_pages_tokens_the_estimate_grows_as_their_largest_does():
    keys = keys_of(0, 200, 1.0) - keys_of(0, 200, 1.0).mean(1, keepdim=True)
    query = torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(1))
    for scale in (1.0, 2.0, 4.0):
        estimate = log_mass(scale * query, key_moments(keys).permute(1, 2, 0)[None], 32).mean()
        true = true_log_mass(scale * query, keys).mean()
        normal = ((scale * query) ** 2 @ key_moments(keys).permute(1, 2, 0)[None].chunk(2, 2)[1]).mean() / 2
        assert abs(float(estimate - true)) < abs(float(normal - true)) or scale == 1.0
        assert abs(float(estimate - true)) < 0.35 * float(true) + 0.5


def test_a_request_is_scored_alike_alone_and_beside_longer_ones():
    selector, page = AttentionMass(), 32
    summary = torch.stack([selector.summarise(keys_of(seed, 9), torch.zeros(9)).permute(1, 2, 0) for seed in (1, 2)])
    query = torch.randn(2, 2, 3, 8, generator=torch.Generator().manual_seed(3))
    there = torch.arange(9) < torch.tensor([[5], [9]])
    both = selector.scores(query, summary, there, page)
    alone = selector.scores(query[:1], summary[:1, ..., :5], there[:1, :5], page)
    torch.testing.assert_close(both[:1, :5], alone)
    torch.testing.assert_close(both.sum(-1), torch.full((2,), 6.0))


def test_pages_of_better_grids_come_before_all_others():
    scores = torch.zeros(1, 64)
    scores[0, 16:32] = 1  # the second of four grids
    scores[0, 60] = 5  # one page of the last
    order = coarse_to_fine(scores, torch.ones(1, 64, dtype=torch.bool)).argsort(-1, descending=True)[0]
    assert set(order[:4].tolist()) <= set(range(16, 32)) | {60}


@given(st.integers(1, 25), st.integers(0, 4), st.integers(0, 4), st.integers(0, 1000))
def test_the_shares_are_of_the_grids_and_of_the_chunks_in_them(grids, quarters_of_grids, quarters_of_chunks, seed):
    pages = grids * CHUNKS_A_GRID * PAGES_A_CHUNK
    scores = torch.rand(1, pages, generator=torch.Generator().manual_seed(seed))
    there = torch.ones(1, pages, dtype=torch.bool)
    kept = coarse_to_fine(scores, there, quarters_of_grids / 4, quarters_of_chunks / 4)[0] > 1
    chunks = kept.view(-1, PAGES_A_CHUNK)
    assert torch.equal(chunks.any(1), chunks.all(1))
    active = ceil(grids * quarters_of_grids / 4)
    assert int(chunks.any(1).sum()) == ceil(active * CHUNKS_A_GRID * quarters_of_chunks / 4)
    assert int(chunks.any(1).view(-1, CHUNKS_A_GRID).any(1).sum()) <= active


def test_a_share_that_is_no_sum_of_halves_is_not_rounded_up_twice():
    pages = 100 * CHUNKS_A_GRID * PAGES_A_CHUNK
    kept = coarse_to_fine(torch.rand(1, pages), torch.ones(1, pages, dtype=torch.bool), 0.15, 1)[0] > 1
    assert int(kept.sum()) == 15 * CHUNKS_A_GRID * PAGES_A_CHUNK


def test_one_page_in_a_hundred_is_listed_from_the_best_chunks():
    """Table 1's smallest budget: shares of 0.5, 0.2 and 0.1."""
    scores = torch.rand(1, 1600, generator=torch.Generator().manual_seed(1))
    ranked = coarse_to_fine(scores, torch.ones(1, 1600, dtype=torch.bool), 0.5, 0.2)[0]
    listed = ranked.topk(int(budget_pages(np.array([1600]), np.array([0.01]), 1, 2)[0])).indices
    assert len(listed) == 16 and bool((ranked[listed] > 1).all())


def test_affinity_is_the_product_with_the_recent_windows_mean():
    selector = KeyAffinity()
    summary = selector.summarise(keys_of(4, 6), torch.zeros(6)).permute(1, 2, 0)[None, None]
    scores = selector.scores(summary, torch.tensor([6]), 2)
    vectors = keys_of(4, 6).mean(1).flatten(1)
    expected = vectors @ vectors[4:].sum(0)
    grouped = scores[0] - expected
    # scores that are not raised equal the product itself
    raised = grouped > 1e-3
    torch.testing.assert_close(scores[0][~raised], expected[~raised])
    assert 0 < int(raised.sum()) <= 4


def test_each_selector_has_a_name_and_the_numbers_it_says():
    for name, kind in SELECTORS.items():
        made = kind()
        assert made.summarise(keys_of(5, 3), torch.zeros(3)).shape == (3, 2, made.numbers(8)), name
