"""Sparse prefill attention against its specification and its meaning."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from chunked_requests import Requests, Shape, draw_requests
from comparison import assert_close, poisoned
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from reprise_kernels.sparse_prefill_attention import naive_sparse_prefill_attention, sparse_prefill_attention

SLOTS = ("q", "q_pos", "cu_q", "k", "v", "slot_table", "kv_len")
shapes = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    page_size=st.sampled_from([16, 32, 64]),
    kv_heads=st.sampled_from([1, 2]),
    group=st.sampled_from([1, 3, 4, 8]),
    head_dim=st.sampled_from([16, 32, 40]),
    requests=st.integers(1, 3),
    recompute=st.sampled_from([0.0, 0.15, 0.5, 1.0]),
    question=st.integers(0, 5),
)


def of(case: Requests, names: tuple[str, ...]) -> list[torch.Tensor]:
    return [getattr(case, name) for name in names]


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes)
def test_over_a_slot_table_each_query_sees_just_what_stands_at_or_before_its_true_position(dtype, shape):
    case = draw_requests(shape, dtype)
    expected, expected_lse = naive_sparse_prefill_attention(*case.cpu(*SLOTS))
    out, lse = sparse_prefill_attention(*of(case, SLOTS))
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, dtype, unit=1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes, begin=st.booleans())
def test_queries_also_see_their_own_keys_up_to_each_and_write_where_they_are_told(dtype, shape, begin):
    case, random = draw_requests(shape, dtype), generator(shape.seed)
    if begin:
        # a context of which nothing is known
        case.kv_len = torch.zeros_like(case.kv_len)
    # keys and values of a projection lie side by side
    own = normal((len(case.q), 2 * shape.kv_heads, shape.head_dim), dtype, random).split(shape.kv_heads, 1)
    expected, expected_lse = naive_sparse_prefill_attention(*case.cpu(*SLOTS), own=tuple(one.cpu() for one in own))
    out = torch.full_like(case.q, torch.nan)
    given, lse = sparse_prefill_attention(*of(case, SLOTS), own=own, out=out)
    assert given is out
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, dtype, unit=1.0)


@given(seed=st.integers(0, 2**32 - 1), tokens=st.integers(1, 50), group=st.sampled_from([1, 4]))
def test_recomputing_everything_is_dense_causal_attention(seed, tokens, group):
    random = generator(seed)
    q, k, v = (normal((tokens, heads, 32), torch.float32, random) for heads in (2 * group, 2, 2))
    slots = torch.randperm(64, generator=random)[:tokens].to(DEVICE)
    cache = poisoned((2, 4, 16, 2, 32), torch.float32, DEVICE)
    cache[0].flatten(0, 1)[slots], cache[1].flatten(0, 1)[slots] = k, v
    positions = indices(torch.arange(tokens))
    out, _ = sparse_prefill_attention(
        q, positions, indices([0, tokens]), cache[0], cache[1], indices(slots[None]), indices([tokens])
    )
    q, k, v = (each.double().transpose(0, 1) for each in (q, k, v))
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    dense = scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1)
    assert_close("out", out, dense)


@given(shape=shapes)
def test_a_batch_is_its_requests_one_by_one(shape):
    case = draw_requests(shape, torch.float32)
    whole, whole_lse = sparse_prefill_attention(*of(case, SLOTS))
    starts = case.cu_q.tolist()
    for b in range(shape.requests):
        rows = slice(starts[b], starts[b + 1])
        out, lse = sparse_prefill_attention(
            case.q[rows], case.q_pos[rows], indices([0, starts[b + 1] - starts[b]]), case.k, case.v,
            case.slot_table[b : b + 1], case.kv_len[b : b + 1],
        )  # fmt: skip
        assert_close("out", out, whole[rows].double())
        assert_close("lse", lse, whole_lse[rows].double(), unit=1.0)


@given(shape=shapes)
def test_queries_may_come_in_any_order(shape):
    case = draw_requests(shape, torch.float32)
    out, _ = sparse_prefill_attention(*of(case, SLOTS))
    order = torch.cat(
        [
            start + torch.randperm(end - start, generator=generator(shape.seed))
            for start, end in zip(case.cu_q.tolist(), case.cu_q.tolist()[1:], strict=False)
        ]
    ).to(DEVICE)
    case.q, case.q_pos = case.q[order], case.q_pos[order].contiguous()
    shuffled, _ = sparse_prefill_attention(*of(case, SLOTS))
    assert_close("out", shuffled, out[order].double())


def test_a_query_without_any_key_gives_nothing_rather_than_nan():
    case = draw_requests(Shape(1, 16, 1, 4, 32, 2, 0.5, 2), torch.float32)
    case.kv_len[1] = 0
    out, lse = sparse_prefill_attention(*of(case, SLOTS))
    rows = slice(int(case.cu_q[1]), int(case.cu_q[2]))
    assert torch.all(out[rows] == 0)
    assert torch.all(lse[rows] == -torch.inf)


def test_rows_behind_the_last_request_pad_a_captured_graph_and_are_nothing(monkeypatch):
    # fill new memory with NaN, which would otherwise contain what was freed just before
    monkeypatch.setattr(torch, "empty_like", lambda like: torch.full_like(like, torch.nan))
    monkeypatch.setattr(torch, "empty", lambda shape, **how: torch.full(shape, torch.nan, **how))
    case = draw_requests(Shape(1, 16, 1, 4, 32, 2, 0.5, 2), torch.float32)
    used = len(case.q)
    case.q = torch.cat([case.q, torch.ones_like(case.q)])
    case.q_pos = torch.cat([case.q_pos, case.q_pos])
    expected, expected_lse = naive_sparse_prefill_attention(*case.cpu(*SLOTS))
    out, lse = sparse_prefill_attention(*of(case, SLOTS))
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, unit=1.0)
    assert torch.all(out[used:] == 0)
    assert torch.all(lse[used:] == -torch.inf)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda case: {"q": case.q[:, :3]}, "q has 3 heads, k has 2"),
        (lambda case: {"q": case.q.half()}, "q is torch.float16"),
        (lambda case: {"q": case.q.transpose(1, 2).contiguous().transpose(1, 2)}, "q has stride"),
        (lambda case: {"q_pos": case.q_pos[1:]}, "q_pos has shape"),
        (lambda case: {"cu_q": case.cu_q[:1]}, "cu_q has no request"),
        (lambda case: {"cu_q": case.cu_q.long()}, "cu_q is torch.int64"),
        (lambda case: {"v": case.v[:, :, :, :16]}, "v has shape"),
        (lambda case: {"v": case.v.transpose(1, 2).contiguous().transpose(1, 2)}, "k has strides"),
        (lambda case: {"slot_table": case.slot_table[:1]}, "slot_table has shape"),
        (lambda case: {"kv_len": case.kv_len.float()}, "kv_len is torch.float32"),
        (lambda case: {"k": case.k.to("meta")}, "k is on meta"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(change, message):
    case = draw_requests(Shape(1, 16, 2, 4, 32, 2, 0.5, 2), torch.float32)
    arguments = dict(zip(SLOTS, of(case, SLOTS), strict=True))
    with pytest.raises(ValueError, match=message) as refused:
        sparse_prefill_attention(**(arguments | change(case)))
    assert "\n" not in str(refused.value)
