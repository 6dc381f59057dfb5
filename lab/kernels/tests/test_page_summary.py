"""page_summary, mean_rows and recent_anchor against their specifications."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from comparison import assert_close, poisoned
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.page_summary import (
    mean_rows,
    naive_mean_rows,
    naive_page_summary,
    naive_recent_anchor,
    page_summary,
    recent_anchor,
)

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=seeds, page_size=st.sampled_from([1, 16, 32]), heads=st.integers(1, 3), n=st.integers(0, 4))
def test_pages_get_the_mean_of_their_tokens_and_no_other_page_or_layer_changes(dtype, seed, page_size, heads, n):
    random = generator(seed)
    k = poisoned((6, page_size, heads, 24), dtype, DEVICE)
    page_ids = torch.randperm(6, generator=random)[:n]
    tokens = torch.randint(0, page_size + 1, (n,), generator=random)
    for page, count in zip(page_ids.tolist(), tokens.tolist(), strict=True):
        k[page, :count] = normal((count, heads, 24), dtype, random)
    if n > 2:
        page_ids[0] = -1
    out = normal((6, 3, heads * 24), dtype, random)
    expected = naive_page_summary(k.cpu(), page_ids, tokens, 1, out.cpu())
    assert page_summary(k, indices(page_ids), indices(tokens), 1, out) is out
    assert_close("summaries", out, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=seeds, counts=st.lists(st.integers(0, 11), min_size=1, max_size=3), size=st.integers(1, 5))
def test_chunks_and_grids_are_means_of_their_members_the_last_of_those_that_are_left(dtype, seed, counts, size):
    random = generator(seed)
    rows, index = normal((14, 30), dtype, random), torch.randint(0, 14, (len(counts), 11), generator=random)
    count = torch.tensor(counts)
    chunks = mean_rows(rows, indices(count), size, indices(index))
    expected = naive_mean_rows(rows.cpu(), count, size, index)
    assert_close("chunks", chunks, expected, torch.float32)
    chunk_count = -(-count // size)
    grids = mean_rows(chunks, indices(chunk_count), 2)
    assert_close("grids", grids, naive_mean_rows(expected, chunk_count, 2, None), torch.float32)
    anchor = recent_anchor(rows, indices(count), size, indices(index))
    assert_close("anchor", anchor, naive_recent_anchor(rows.cpu(), count, size, index), torch.float32)


@given(seed=seeds)
def test_a_page_summed_up_when_it_fills_is_the_same_as_in_one_go(seed):
    random = generator(seed)
    k = normal((5, 16, 2, 24), torch.float32, random)
    order = torch.randperm(5, generator=random)
    at_once, by_steps = (torch.zeros(5, 1, 48, device=DEVICE) for _ in range(2))
    page_summary(k, indices(order), indices([16] * 5), 0, at_once)
    for page in order.tolist():
        page_summary(k, indices([-1, page]), indices([16, 16]), 0, by_steps)
    assert torch.equal(at_once, by_steps)


def test_what_the_kernels_cannot_take_is_refused_in_one_line():
    k, out, one = torch.zeros(2, 16, 2, 16, device=DEVICE), torch.zeros(2, 1, 32, device=DEVICE), indices([0])
    for arguments, message in (
        ((k, one, indices([1, 1]), 0, out), "tokens has shape"),
        ((k, one, one, 1, out), "there is no layer 1 of 1"),
        ((k, one, one, 0, out[:1]), "out has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            page_summary(*arguments)
    with pytest.raises(ValueError, match="a mean of 0 rows"):
        mean_rows(out, indices([1, 1]), 0)
    with pytest.raises(ValueError, match="index has shape"):
        recent_anchor(k[0, 0], one, 1, indices([[0], [0]]))
