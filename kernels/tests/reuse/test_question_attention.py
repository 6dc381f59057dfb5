"""What the kernels say of a question's attention is what torch says."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.question_attention import QuestionAttention, SplitQuestionAttention


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the output of the last len(q) of len(k) tokens, and their weights [n, query heads, m], in float64."""
    group = q.shape[1] // k.shape[1]
    k, v = (rows.repeat_interleave(group, 1) for rows in (k, v))
    logits = torch.einsum("ihd,jhd->ihj", q, k) * scale
    sees = torch.ones(len(q), len(k), dtype=torch.bool).tril(len(k) - len(q))
    weights = logits.masked_fill(~sees[:, None], -torch.inf).softmax(-1)
    return torch.einsum("ihj,jhd->ihd", weights, v), weights


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    seed=st.integers(0, 2**32 - 1), counts=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    heads=st.sampled_from([1, 2]), group=st.sampled_from([1, 3, 4]), size=st.sampled_from([16, 40, 64]),
    are_beside=st.booleans(), data=st.data(),
)  # fmt: skip
def test_of_each_question_output_and_scores_are_those_of_full_attention(
    dtype, seed, counts, heads, group, size, are_beside, data
):
    random, rows, total = generator(seed), 100, sum(counts)
    q = torch.randn(total, heads * group, size, generator=random).to(dtype)
    k, v = torch.randn(total, 2 * heads, size, generator=random).to(dtype).split(heads, 1)
    if not are_beside:
        v = v.contiguous()
    # keys and values side by side, as engines keep them: a row of keys is followed by one of values
    pages = torch.randn(1, rows, heads, 2 * size, generator=random).to(dtype)
    lengths = [data.draw(st.integers(0, 70)) for _ in counts]
    slots = [torch.randperm(rows, generator=random)[:length].int() for length in lengths]
    scores, out = torch.ones(len(counts), max(lengths), device=DEVICE), torch.full_like(q, torch.nan).to(DEVICE)
    keys, values = pages.to(DEVICE).split(size, -1)
    attention = QuestionAttention(counts, [one.numpy() for one in slots], 0.2, torch.device(DEVICE))
    attention.attend(*(one.to(DEVICE) for one in (q, k, v)), keys, values, scores, out)

    parts = zip(slots, *(one.split(counts) for one in (q, k, v)), out.split(counts), scores, strict=True)
    for at, own_q, own_k, own_v, output, scored in parts:
        cached = pages[0, at.long()].double().split(size, -1)
        expected, weights = reference(
            own_q.double(),
            *(torch.cat((old, own.double())) for old, own in zip(cached, (own_k, own_v), strict=True)),
            0.2,
        )
        assert_close("output", output, expected, dtype)
        seen = weights[..., : len(at)].mean((0, 1))
        assert_close("scores", scored[: len(at)] - 1, seen, dtype)
        assert (scored[len(at) :] == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 9), padding=st.integers(0, 3), lengths=st.lists(
        st.integers(0, 70), min_size=1, max_size=3
    ),
)  # fmt: skip
def test_a_question_whose_context_is_read_in_parts_sees_the_same(dtype, seed, count, padding, lengths):
    """One context after the other, so that nothing of an earlier one is seen."""
    random, rows, size, heads = generator(seed), 100, 32, 2
    pages = torch.randn(1, rows, heads, 2 * size, generator=random).to(dtype)
    keys, values = pages.to(DEVICE).split(size, -1)
    attention = SplitQuestionAttention(count + padding, 70, 0.2, torch.device(DEVICE))
    for length in lengths:
        q = torch.randn(count + padding, heads * 3, size, generator=random).to(dtype)
        k, v = torch.randn(count + padding, 2 * heads, size, generator=random).to(dtype).split(heads, 1)
        slots = torch.randperm(rows, generator=random)[:length].int()
        scores = torch.zeros(1, attention.longest, device=DEVICE)
        out = torch.full_like(q, torch.nan).to(DEVICE)
        attention.set(count, slots.numpy())
        attention.attend(*(one.to(DEVICE) for one in (q, k, v)), keys, values, scores, out)
        cached = pages[0, slots.long()].double().split(size, -1)
        expected, weights = reference(
            q.double(), *(torch.cat((old, own.double())) for old, own in zip(cached, (k, v), strict=True)), 0.2
        )
        assert_close("output", out, expected, dtype)
        assert_close("scores", scores[0, :length], weights[:count, :, :length].mean((0, 1)), dtype)
        assert (scores[0, length:] == 0).all()
