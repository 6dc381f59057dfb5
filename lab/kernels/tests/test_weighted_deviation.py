"""weighted_deviation and kvshare_scores against their specifications, and identities they must satisfy."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from chunked_requests import Requests, Shape, draw_requests
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.kv_deviation import kv_deviation
from lab_kernels.select_tokens import select_tokens
from lab_kernels.weighted_deviation import (
    kvshare_scores,
    naive_kvshare_scores,
    naive_weighted_deviation,
    weighted_deviation,
)
from reprise_kernels.question_scores import question_scores
from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

shapes = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    page_size=st.sampled_from([16, 32]),
    kv_heads=st.sampled_from([1, 2]),
    group=st.sampled_from([1, 4, 8]),
    head_dim=st.sampled_from([16, 40]),
    requests=st.integers(1, 3),
    recompute=st.sampled_from([0.0, 1.0]),
    question=st.integers(0, 3),
)


def draw(shape: Shape, dtype: torch.dtype) -> tuple[Requests, torch.Tensor, torch.Tensor]:
    """Draws a batch, fresh values of most of each request's tokens, and where each request's tokens begin."""
    case = draw_requests(shape, dtype)
    counts = (case.kv_len.cpu() - 2).clamp(min=0)
    starts = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
    fresh = normal((int(starts[-1]), shape.kv_heads, shape.head_dim), dtype, generator(shape.seed))
    return case, fresh, indices(starts)


def weights_like(table: torch.Tensor, seed: int) -> torch.Tensor:
    """Draws weights like a softmax's column sums, for every place in the table."""
    return torch.rand(table.shape, generator=generator(seed)).to(DEVICE)


def cpu(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """Returns the tensors on the CPU, where the specifications want them."""
    return [each.cpu() for each in tensors]


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes)
def test_weighted_deviations_are_as_specified(dtype, shape):
    case, fresh, starts = draw(shape, dtype)
    weights = [weights_like(case.slot_table, shape.seed + i) for i in range(2)]
    arguments = (*weights, fresh, case.v, starts, case.slot_table, case.kv_len)
    expected = naive_weighted_deviation(*cpu(*arguments))
    assert_close("deviation", weighted_deviation(*arguments), expected, torch.float32)


@given(shape=shapes, factor=st.sampled_from([0.25, 2.0]))
def test_equal_weights_multiply_the_deviation(shape, factor):
    case, fresh, starts = draw(shape, torch.float32)
    weights = torch.full_like(case.slot_table, factor, dtype=torch.float32)
    where = (starts, case.slot_table, case.kv_len)
    plain = kv_deviation([fresh], [case.v], *where)
    assert_close("deviation", weighted_deviation(weights, weights, fresh, case.v, *where), plain.double() * factor**2)


def all_tokens(shape: Shape, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Draws a fully computed layer: queries, keys and values of all tokens, and stale values of all tokens."""
    shape.recompute = 1.0
    case = draw_requests(shape, dtype)
    random = generator(shape.seed + 1)
    fresh = normal((len(case.q), shape.kv_heads, shape.head_dim), dtype, random)
    question = {"q": case.q, "q_pos": case.q_pos, "cu_q": case.cu_q}
    where = {"slot_table": case.slot_table, "kv_len": case.kv_len}
    _, lse = sparse_prefill_attention(**question, k=case.k, v=case.v, **where)
    return question | {"lse": lse, "k": case.k, "v": case.v, "fresh": fresh} | where


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes)
def test_kvshares_scores_are_as_specified(dtype, shape):
    arguments = all_tokens(shape, dtype)
    given_to_naive = {name: tensor.cpu() for name, tensor in arguments.items() if name != "lse"}
    # the weights are as exact as attention in this data type
    assert_close("scores", kvshare_scores(**arguments), naive_kvshare_scores(**given_to_naive), dtype)


@given(shape=shapes)
def test_the_ideal_is_nothing_where_neither_values_nor_attention_change(shape):
    arguments = all_tokens(shape, torch.float32)
    v, slot_table, kv_len, starts = (arguments[name] for name in ("v", "slot_table", "kv_len", "cu_q"))
    same = torch.cat([v.flatten(0, 1)[slot_table[b, :n].long()] for b, n in enumerate(kv_len.tolist())])
    attention = question_scores(*(arguments[name] for name in ("q", "q_pos", "cu_q", "lse", "k")), slot_table, kv_len)
    # a GPU rounds one of two equal products, and not the other (fused multiply and add)
    assert weighted_deviation(attention, attention, same, v, starts, slot_table, kv_len).max() < 1e-12


def test_of_two_tokens_that_deviate_alike_kvshare_takes_the_one_that_is_looked_at():
    k = torch.zeros(1, 32, 1, 16, device=DEVICE)
    k[0, 9] = 3.0
    v = normal((1, 32, 1, 16), torch.float32, generator(1))
    fresh = v.flatten(0, 1).clone()
    fresh[[4, 9]] += 0.5
    q, q_pos = torch.ones(32, 1, 16, device=DEVICE), indices(torch.arange(32))
    layer = {"q": q, "q_pos": q_pos, "cu_q": indices([0, 32]), "k": k, "v": v}
    where = {"slot_table": indices(torch.arange(32)[None]), "kv_len": indices([32])}
    _, lse = sparse_prefill_attention(**layer, **where)
    scores = kvshare_scores(**layer, lse=lse, fresh=fresh, **where)
    positions, _ = select_tokens(scores, where["kv_len"], 1 / 32)
    assert positions[0, 0] == 9
    plain = kv_deviation([fresh], [v], layer["cu_q"], where["slot_table"], where["kv_len"])
    torch.testing.assert_close(plain[0, 4], plain[0, 9])


def test_what_the_kernel_cannot_take_is_refused_in_one_line():
    case, fresh, starts = draw(Shape(1, 16, 2, 1, 16, 2, 0.0, 3), torch.float32)
    weights = weights_like(case.slot_table, 1)
    where = (starts, case.slot_table, case.kv_len)
    wide = torch.stack([weights, weights], dim=2)[:, :, 0]
    for arguments, message in (
        ((weights[:1], weights, fresh, case.v), "fresh_weights has shape"),
        ((weights, weights.double(), fresh, case.v), "stale_weights is torch.float64"),
        ((wide, weights, fresh, case.v), "fresh_weights has strides"),
        ((weights, weights, fresh.half(), case.v), "fresh is torch.float16"),
    ):
        with pytest.raises(ValueError, match=message) as refused:
            weighted_deviation(*arguments, *where)
        assert "\n" not in str(refused.value)
