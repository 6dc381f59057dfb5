"""generation_uncertainty against its specification, over the steps of a decode."""

import math

import pytest
import torch
from cases import DEVICE, DTYPES, generator, normal
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.generation_uncertainty import generation_uncertainty, naive_entropy, naive_page_uncertainty

LIMIT = 0.9


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocabulary=st.integers(1, 90),
    sharpness=st.sampled_from([0.1, 3.0, 40.0]),
    banned=st.booleans(),
)
def test_entropies_are_as_specified_for_flat_and_sharp_distributions_and_banned_tokens(
    dtype, seed, vocabulary, sharpness, banned
):
    logits = normal((3, vocabulary), dtype, generator(seed)) * sharpness
    if banned:
        logits[:, 1:][torch.rand(logits[:, 1:].shape, generator=generator(seed)).to(DEVICE) < 0.5] = -torch.inf
    step = generation_uncertainty(logits, torch.zeros(3, 3, device=DEVICE), 4, LIMIT, LIMIT)
    torch.testing.assert_close(step.entropy.double().cpu(), naive_entropy(logits.cpu()), rtol=1e-4, atol=2e-5)


@given(seed=st.integers(0, 2**32 - 1), page_size=st.integers(1, 4), pages=st.integers(1, 2))
def test_when_a_page_fills_its_mean_and_variance_come_out_and_the_next_page_starts_anew(seed, page_size, pages):
    random = generator(seed)
    state, entropies = torch.zeros(2, 3, device=DEVICE), []
    for number in range(1, pages * page_size + 1):
        logits = normal((2, 20), torch.float32, random) * float(torch.rand(1, generator=random)) * 6
        entropies.append(naive_entropy(logits.cpu()))
        step = generation_uncertainty(logits, state, page_size, 1.5, 0.2)
        if number % page_size:
            assert torch.all(step.page.isnan())
            assert step.triggered.tolist() == [0, 0]
            continue
        for b, own in enumerate(torch.stack(entropies[-page_size:], 1)):
            mean, variance, triggered = naive_page_uncertainty(own, 1.5, 0.2)
            assert_close("page", step.page[b], torch.tensor([mean, variance]).double(), unit=1.0)
            if min(abs(mean - 1.5), abs(variance - 0.2)) > 1e-4:
                assert bool(step.triggered[b]) == triggered
        assert torch.all(state == 0)


def test_both_the_mean_and_the_variance_must_exceed_their_thresholds():
    sure, unsure = torch.tensor([[50.0, 0.0, 0.0, 0.0]]), torch.zeros(1, 4)
    for limits, expected in (((0.5, 0.1), 1), ((1.0, 0.1), 0), ((0.5, 1.0), 0)):
        state = torch.zeros(1, 3, device=DEVICE)
        generation_uncertainty(sure.to(DEVICE), state, 2, *limits)
        step = generation_uncertainty(unsure.to(DEVICE), state, 2, *limits)
        assert step.page[0].tolist() == pytest.approx([math.log(4) / 2, (math.log(4) / 2) ** 2], rel=1e-5)
        assert step.triggered.tolist() == [expected]


@pytest.mark.parametrize(
    ("logits", "state", "page_size", "message"),
    [
        (torch.zeros(2, 4), torch.zeros(1, 3), 4, "state has shape"),
        (torch.zeros(4, 2).t(), torch.zeros(2, 3), 4, "rows must be contiguous"),
        (torch.zeros(2, 4), torch.zeros(2, 3), 0, "1 is the least"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(logits, state, page_size, message):
    with pytest.raises(ValueError, match=message):
        generation_uncertainty(logits.to(DEVICE), state.to(DEVICE), page_size, LIMIT, LIMIT)
