"""hierarchical_select against its specification, exactly, and what any selection must keep."""

from contextlib import nullcontext

import pytest
import torch
from cases import DEVICE, generator, indices
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.hierarchical_select import Hierarchy, hierarchical_select, naive_hierarchical_select
from lab_kernels.hierarchical_select.naive import _threshold
from lab_kernels.launch.cuda_kernel import CudaKernel
from lab_kernels.launch.launch_table import trying

shares = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9, 1.0])
hierarchies = st.builds(
    Hierarchy,
    pages=st.sampled_from([1, 2, 3, 4]),
    chunks=st.sampled_from([1, 2, 3, 8]),
    keep_grids=shares,
    keep_chunks=shares,
    keep_pages=shares,
    sinks=st.integers(0, 3),
    recent=st.integers(0, 4),
    among_active=st.booleans(),
)
counts = st.lists(st.integers(0, 60), min_size=1, max_size=3)
IN_CUDA = [{"pages": 16, "columns": 64, "score_warps": 4, "cuda_warps": warps} for warps in (1, 3)]


def select_each_way(
    anchor: torch.Tensor, summaries: torch.Tensor, table: torch.Tensor, count: torch.Tensor, hierarchy: Hierarchy
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Returns each selection and its size: in Triton, as in the table, and in CUDA."""
    results = []
    for config in (None, *IN_CUDA):
        with nullcontext() if config is None else trying("hierarchical_select", config):
            chosen, kept = hierarchical_select(
                anchor.to(DEVICE), summaries.to(DEVICE), indices(table), indices(count), hierarchy
            )
        results.append((chosen.cpu(), kept.cpu()))
    return results


def draw(seed: int, pages: list[int], hierarchy: Hierarchy) -> list[torch.Tensor]:
    """Draws vectors of small integers, times a multiple of all divisors of the means, so that no score is rounded."""
    random = generator(seed)
    unit = 12 * 24 * 24
    anchor = torch.randint(-3, 4, (len(pages), 5), generator=random).float()
    summaries = torch.randint(-2, 3, (70, 5), generator=random).float() * unit
    table = torch.stack([torch.randperm(70, generator=random)[:60] for _ in pages])
    # a page of the recent window may have no summary yet, and pages past the end have none
    for b, count in enumerate(pages):
        unknown = table[b, max(count - hierarchy.recent, 0) :]
        if b == 0:
            summaries[unknown] = float("nan")
            table[1:] = table[0]
    return [anchor, summaries, table, torch.tensor(pages)]


@given(seed=st.integers(0, 2**32 - 1), pages=counts, hierarchy=hierarchies)
def test_just_the_specified_pages_are_kept_in_order(seed, pages, hierarchy):
    pages = [min(count, pages[0]) for count in pages]
    anchor, summaries, table, count = draw(seed, pages, hierarchy)
    expected, expected_count = naive_hierarchical_select(anchor, summaries, table, count, hierarchy)
    for chosen, kept in select_each_way(anchor, summaries, table, count, hierarchy):
        assert torch.equal(kept, expected_count)
        assert torch.equal(chosen, expected)


@given(
    scores=st.lists(st.integers(-50, 50), min_size=1, max_size=40), share=st.integers(0, 1000), ties=st.integers(1, 20)
)
def test_reaching_the_score_of_the_rank_is_reaching_the_interpolated_quantile(scores, share, ties):
    level = torch.tensor(scores, dtype=torch.float64) // ties
    everything = torch.ones(len(scores), dtype=torch.bool)
    threshold = _threshold(level, everything, share * 1000, False)
    # between two ranks, the interpolated quantile may be rounded down to the lower score: correct for that
    quantile = float(torch.quantile(level, share / 1000))
    lower = float(torch.quantile(level, share / 1000, interpolation="lower"))
    rank = share * (len(scores) - 1) % 1000
    expected = level > lower if rank and quantile == lower and threshold > lower else level >= quantile
    assert torch.equal(level >= threshold, expected)


@given(seed=st.integers(0, 2**32 - 1), hierarchy=hierarchies, pages=st.integers(1, 60))
def test_sinks_and_the_recent_window_are_always_kept_each_page_once_in_order_and_all_where_all_shares_are_1(
    seed, hierarchy, pages
):
    anchor, summaries, table, count = draw(seed, [pages], hierarchy)
    for chosen, kept in select_each_way(anchor, summaries, table, count, hierarchy):
        listed = chosen[0, : int(kept[0])].tolist()
        assert listed == sorted(set(listed))
        assert set(range(min(hierarchy.sinks, pages))) <= set(listed)
        assert set(range(max(pages - hierarchy.recent, 0), pages)) <= set(listed)
        if hierarchy.keep_grids == hierarchy.keep_chunks == hierarchy.keep_pages == 1.0 and hierarchy.among_active:
            assert listed == list(range(pages))


def test_by_default_the_budget_is_the_product_of_the_shares_whatever_sign_scores_have():
    summaries = -128.0 * (1 + torch.arange(512)[:, None])
    given = (torch.ones(1, 1), summaries, torch.arange(512)[None], torch.tensor([512]))
    for chosen, kept in select_each_way(*given, Hierarchy(sinks=0, recent=0)):
        assert int(kept[0]) == 512 // 8
        assert chosen[0, : 512 // 8].tolist() == list(range(512 // 8))


def test_more_pages_than_triton_holds_are_selected_in_cuda_whatever_the_configuration_says(monkeypatch):
    hierarchy = Hierarchy(keep_grids=0.25, keep_chunks=0.25, keep_pages=0.25)
    random, launched, launch = generator(1), [], CudaKernel.launch
    monkeypatch.setattr(CudaKernel, "launch", lambda *given: launched.append(given) or launch(*given))
    given = (torch.ones(1, 1), torch.randint(-99, 99, (4200, 1), generator=random).float() * 128)
    table, count = torch.randperm(4200, generator=random)[None], torch.tensor([4200])
    with trying("hierarchical_select", {"pages": 128, "columns": 16, "score_warps": 4, "select_warps": 16}):
        chosen, kept = hierarchical_select(
            *(each.to(DEVICE) for each in given), indices(table), indices(count), hierarchy
        )
    expected, expected_count = naive_hierarchical_select(*given, table, count, hierarchy)
    assert launched
    assert torch.equal(kept.cpu(), expected_count)
    assert torch.equal(chosen.cpu(), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"pages": 0}, "1 is the least"), ({"keep_pages": 0.0}, "more than 0"), ({"sinks": -1}, "must not be negative")],
)
def test_a_hierarchy_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy(**settings)


def test_what_the_kernels_cannot_take_is_refused_in_one_line():
    anchor, summaries, table, count = draw(1, [20, 20], Hierarchy())
    where = (indices(table), indices(count))
    for arguments, message in (
        ((anchor, summaries[:, :4].contiguous(), *where), "summaries has shape"),
        ((anchor, summaries, where[0][:1], where[1]), "page_table has shape"),
        ((anchor, summaries, indices(torch.zeros(2, 50_000)), where[1]), "more than the 4096"),
    ):
        first, second, *rest = arguments
        with pytest.raises(ValueError, match=message) as refused:
            hierarchical_select(first.to(DEVICE), second.to(DEVICE), *rest, Hierarchy())
        assert "\n" not in str(refused.value)
