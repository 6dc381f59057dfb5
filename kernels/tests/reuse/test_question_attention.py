"""What the kernels say of a question's attention is what torch says."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.question_attention import QuestionAttention


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
    seed=st.integers(0, 2**32 - 1), question=st.integers(1, 9), context=st.integers(0, 70),
    heads=st.sampled_from([1, 2]), group=st.sampled_from([1, 3, 4]), size=st.sampled_from([16, 40, 64]),
)  # fmt: skip
def test_output_and_scores_are_those_of_full_attention(dtype, seed, question, context, heads, group, size):
    random, rows = generator(seed), 100
    q = torch.randn(question, heads * group, size, generator=random).to(dtype)
    k, v = torch.randn(2, question, heads, size, generator=random).to(dtype)
    # keys and values side by side, as engines keep them: a row of keys is followed by one of values
    pages = torch.randn(1, rows, heads, 2 * size, generator=random).to(dtype)
    slots = torch.randperm(rows, generator=random)[:context].int()
    scores = torch.ones(context, device=DEVICE)
    keys, values = pages.to(DEVICE).split(size, -1)
    attention = QuestionAttention(question, slots.to(DEVICE), 0.2)
    output = attention.attend(*(one.to(DEVICE) for one in (q, k, v)), keys, values, scores)

    cached = pages[0, slots.long()].double().split(size, -1)
    expected, weights = reference(
        q.double(), *(torch.cat((old, own.double())) for old, own in zip(cached, (k, v), strict=True)), 0.2
    )
    assert output.dtype == dtype
    assert_close("output", output, expected, dtype)
    assert_close("scores", scores - 1, weights[..., :context].sum((0, 1)), dtype)
