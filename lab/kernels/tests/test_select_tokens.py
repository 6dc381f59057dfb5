"""select_tokens against its specification, exactly: indices have no tolerance."""

import math
from contextlib import nullcontext

import pytest
import torch
from cases import DEVICE, generator, indices
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.launch.cuda_kernel import CudaKernel
from lab_kernels.launch.launch_table import trying
from lab_kernels.select_tokens import naive_select_tokens, select_tokens

finite = st.floats(allow_nan=False, width=32)
IN_CUDA = [{"cluster": 1, "warps": 1}, {"cluster": 2, "warps": 3}, {"cluster": 8, "warps": 2}]


def check(scores: torch.Tensor, lengths: torch.Tensor, ratio: float, capacity: int | None = None) -> None:
    """Checks Triton, as in the table, and CUDA."""
    expected, expected_counts = naive_select_tokens(scores, lengths, ratio, capacity)
    for config in (None, *IN_CUDA):
        with nullcontext() if config is None else trying("select_tokens", config):
            positions, counts = select_tokens(scores.to(DEVICE), indices(lengths), ratio, capacity)
        assert torch.equal(counts.cpu(), expected_counts), config
        assert torch.equal(positions.cpu(), expected), config


@given(
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(0, 200), min_size=1, max_size=4),
    ratio=st.one_of(st.sampled_from([0.0, 0.05, 0.07, 0.15, 0.5, 1.0]), st.floats(0, 1)),
    levels=st.sampled_from([1, 2, 5, 10**6]),
    capacity=st.sampled_from([None, 0, 7, 300]),
)
def test_random_scores_with_many_ties_give_just_the_specified_positions(seed, lengths, ratio, levels, capacity):
    random = generator(seed)
    scores = torch.randint(-levels, levels + 1, (len(lengths), 200), generator=random) / 3
    check(scores.float(), torch.tensor(lengths), ratio, capacity)


@given(
    st.lists(st.one_of(finite, st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan])), min_size=1, max_size=80)
)
def test_any_float_has_its_place_with_both_zeros_equal_and_nan_last(values):
    scores = torch.tensor([values], dtype=torch.float32)
    for ratio in (0.1, 0.5, 0.9):
        check(scores, torch.tensor([len(values)]), ratio)


def test_both_zeros_are_the_same_score_so_the_lower_position_goes_first():
    check(torch.tensor([[-0.0, 0.0, -0.0, 0.0, -1.0]]), torch.tensor([5]), 0.4)


@pytest.mark.parametrize("ratio", [0.0, 0.07, 0.1000001, 0.3000001, 1e-6, math.nextafter(1, 0), 1.0])
def test_how_many_are_taken_is_rounded_as_specified(ratio):
    check(torch.arange(100.0).repeat(4, 1), torch.tensor([10, 99, 100, 1]), ratio)


def test_rows_need_not_lie_side_by_side_and_scores_that_are_one_digit_apart_are_told_apart():
    scores = (1 + torch.arange(600.0) % 64 * 2.0**-23).view(2, 300)[:, 20:290]
    check(scores, torch.tensor([270, 131]), 0.3)


def test_what_is_too_long_for_the_shared_memory_of_a_cluster_is_selected_in_triton(monkeypatch):
    launched = []
    monkeypatch.setattr(CudaKernel, "launch", lambda *how: launched.append(how))
    scores = torch.rand(1, 60_000, generator=generator(1))
    with trying("select_tokens", {"cluster": 1, "warps": 1}):
        positions, counts = select_tokens(scores.to(DEVICE), indices([60_000]), 0.01)
    expected, expected_counts = naive_select_tokens(scores, torch.tensor([60_000]), 0.01)
    assert not launched
    assert torch.equal(counts.cpu(), expected_counts)
    assert torch.equal(positions.cpu(), expected)


def test_scores_past_a_requests_length_are_never_chosen():
    scores = torch.tensor([[1.0, 2.0, 99.0, math.nan]])
    positions, counts = select_tokens(scores.to(DEVICE), indices([2]), 1.0)
    assert positions.tolist() == [[0, 1, -1, -1]]
    assert counts.tolist() == [2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.zeros(2, 4).double(), indices([4, 4]), 0.5), "scores is torch.float64"),
        ((torch.zeros(2, 4).t(), indices([2] * 4), 0.5), "scores has stride"),
        ((torch.zeros(2, 4), indices([4]), 0.5), "lengths has shape"),
        ((torch.zeros(2, 4), indices([4, 4]), 1.5), "between 0 and 1"),
        ((torch.zeros(2, 4), indices([4, 4]), 0.5, -1), "must not be negative"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(arguments, message):
    scores, *rest = arguments
    with pytest.raises(ValueError, match=message) as refused:
        select_tokens(scores.to(DEVICE), *rest)
    assert "\n" not in str(refused.value)
