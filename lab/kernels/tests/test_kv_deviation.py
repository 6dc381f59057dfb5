"""kv_deviation and the scores of other rival methods, and the choice by select_tokens from them."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from chunked_requests import Shape, draw_requests
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.chunk_head import attention_change, chunk_head, random_scores
from lab_kernels.kv_deviation import kv_deviation, naive_kv_deviation, value_norm
from lab_kernels.select_tokens import select_tokens
from reprise_reuse.methods import METHODS, Evidence

shapes = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    page_size=st.sampled_from([16, 32]),
    kv_heads=st.sampled_from([1, 3]),
    group=st.just(1),
    head_dim=st.sampled_from([16, 40]),
    requests=st.integers(1, 3),
    recompute=st.sampled_from([0.0, 0.5]),
    question=st.integers(0, 3),
)


def draw(shape: Shape, dtype: torch.dtype) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """Draws fresh keys and values of most of each request's tokens, the cache, and their slots."""
    case = draw_requests(shape, dtype)
    random = generator(shape.seed)
    counts = (case.kv_len.cpu() - 2).clamp(min=0)
    starts = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
    size = (int(starts[-1]), shape.kv_heads, shape.head_dim)
    fresh = [normal(size, dtype, random) for _ in range(2)]
    return fresh, [case.k, case.v], [indices(starts), case.slot_table, case.kv_len]


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes, kinds=st.sampled_from([slice(0, 1), slice(1, 2), slice(0, 2)]))
def test_deviations_of_keys_values_or_both_are_as_specified(dtype, shape, kinds):
    fresh, cached, where = draw(shape, dtype)
    expected = naive_kv_deviation(
        [new.cpu() for new in fresh[kinds]], [cache.cpu() for cache in cached[kinds]], *(each.cpu() for each in where)
    )
    assert_close("deviation", kv_deviation(fresh[kinds], cached[kinds], *where), expected, torch.float32)


@given(shape=shapes)
def test_a_tokens_value_norm_is_its_deviation_from_nothing(shape):
    _, cached, (starts, slot_table, kv_len) = draw(shape, torch.float32)
    expected = naive_kv_deviation([], [cached[1].cpu()], starts.cpu(), slot_table.cpu(), kv_len.cpu())
    assert_close("norms", value_norm(cached[1], slot_table, kv_len), expected, torch.float32)


def test_the_one_token_that_differs_is_the_first_to_be_recomputed():
    k = normal((2, 16, 2, 16), torch.float32, generator(1))
    fresh = k.flatten(0, 1).clone()
    fresh[21] += 0.5
    slots, length = indices(torch.arange(32)[None]), indices([32])
    positions, _ = select_tokens(kv_deviation([fresh], [k], indices([0, 32]), slots, length), length, 1 / 32)
    assert positions[0, 0] == 21


@given(
    starts=st.lists(st.integers(0, 40), min_size=1, max_size=5, unique=True), ratio=st.sampled_from([0.1, 0.25, 0.6])
)
def test_chunk_heads_are_taken_round_by_round_from_the_first_token_of_each_chunk(starts, ratio):
    width = 48
    padded = [*sorted(starts), *[width] * (5 - len(starts))]
    scores = chunk_head(indices([padded]), width)
    order = sorted(range(width), key=lambda t: (max((s for s in starts if s <= t), default=-(10**9)) - t) * -1)
    # sorted() is stable: at equal distances from their chunks' first tokens, the lower position comes first
    expected = [t for t in order if t >= min(starts)] + [t for t in range(width) if t < min(starts)]
    positions, count = select_tokens(scores, indices([width]), ratio)
    assert positions[0, : int(count[0])].tolist() == sorted(expected[: int(count[0])])


def test_without_chunks_no_token_is_a_chunks_head():
    assert torch.all(chunk_head(indices(torch.zeros(2, 0)), 3) == -torch.inf)


def test_random_scores_follow_the_seed_and_attention_change_has_no_sign():
    assert torch.equal(random_scores(2, 9, 1), random_scores(2, 9, 1))
    assert not torch.equal(random_scores(2, 9, 1), random_scores(2, 9, 2))
    a, b = torch.tensor([[0.5, 0.25]]), torch.tensor([[0.25, 0.5]])
    assert attention_change(a, b).tolist() == attention_change(b, a).tolist() == [[0.25, 0.25]]


def test_what_the_kernel_cannot_take_is_refused_in_one_line():
    fresh, cached, where = draw(Shape(1, 16, 3, 1, 16, 2, 0.0, 3), torch.float32)
    for arguments, message in (
        (([], [], *where), "0 fresh tensors, 0 cached"),
        ((fresh[:1], cached, *where), "1 fresh tensors, 2 cached"),
        (([fresh[0].half()], cached[:1], *where), "fresh is torch.float16"),
        ((fresh, cached, where[0][1:].contiguous(), *where[1:]), "cu_tokens has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            kv_deviation(*arguments)
    with pytest.raises(ValueError, match="stale has shape"):
        attention_change(torch.zeros(1, 2, device=DEVICE), torch.zeros(1, 3, device=DEVICE))


def test_epic_ranks_as_the_operation_of_the_kernels_does():
    starts = torch.tensor([[0, 4, 8]], dtype=torch.int32)
    nothing = torch.zeros(4, 12)
    offset = torch.arange(12).float() % 4
    evidence = Evidence(attention=nothing, spread=torch.zeros(12), offset=offset)
    assert torch.equal(METHODS["epic"].score(evidence), chunk_head(starts, 12)[0])
