"""sparse_decode_attention against its specification, over slot tables, page tables and page lists."""

import pytest
import torch
from cases import DTYPES, generator, indices, normal
from chunked_requests import Requests, Shape, draw_requests
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention
from lab_kernels.sparse_decode_attention.tiles import choose_splits
from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

shapes = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    page_size=st.sampled_from([16, 32, 64]),
    kv_heads=st.sampled_from([1, 2]),
    group=st.sampled_from([1, 3, 4, 8]),
    head_dim=st.sampled_from([16, 32, 40]),
    requests=st.integers(1, 4),
    recompute=st.sampled_from([0.0, 0.3, 1.0]),
    question=st.integers(0, 5),
)
splits = st.sampled_from([None, 1, 2, 3, 7])


def draw_query(case: Requests, shape: Shape, dtype: torch.dtype) -> torch.Tensor:
    return normal((shape.requests, shape.kv_heads * shape.group, shape.head_dim), dtype, generator(shape.seed + 1))


def draw_list(case: Requests, shape: Shape, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws some of each request's pages in any order, with gaps, and garbage past the count."""
    random = generator(seed)
    page_list, counts = torch.full((shape.requests, 9), 10**6), []
    for b, length in enumerate(case.kv_len.tolist()):
        pages = torch.randperm(-(-length // shape.page_size), generator=random)[:7]
        pages = pages[: int(torch.randint(0, len(pages) + 1, (1,), generator=random))]
        page_list[b, : len(pages)] = pages
        page_list[b, len(pages)] = -1
        counts.append(len(pages) + 1)
    return indices(page_list), indices(counts)


def check(q: torch.Tensor, case: Requests, shares: int | None, **where: torch.Tensor) -> None:
    cpu = {name: tensor.cpu() for name, tensor in where.items()}
    expected, expected_lse = naive_sparse_decode_attention(q.cpu(), case.k.cpu(), case.v.cpu(), **cpu)
    out, lse = sparse_decode_attention(q, case.k, case.v, **where, splits=shares)
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, q.dtype, unit=1.0)


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes, shares=splits, listed=st.booleans())
def test_over_a_slot_table_it_reads_shared_and_recomputed_tokens_as_specified(dtype, shape, shares, listed):
    case = draw_requests(shape, dtype)
    where = {"slot_table": case.slot_table, "kv_len": case.kv_len}
    if listed:
        where["page_list"], where["page_count"] = draw_list(case, shape, shape.seed)
    check(draw_query(case, shape, dtype), case, shares, **where)


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes, shares=splits, listed=st.booleans())
def test_over_a_page_table_it_reads_the_listed_pages_and_never_past_the_end(dtype, shape, shares, listed):
    shape.recompute, shape.question = 0.0, 0
    case = draw_requests(shape, dtype)
    where = {"page_table": case.shared_table, "kv_len": case.shared_len}
    if listed:
        where["page_list"], where["page_count"] = draw_list(case, shape, shape.seed)
    check(draw_query(case, shape, dtype), case, shares, **where)


@given(shape=shapes)
def test_it_is_prefill_with_one_query_at_the_end(shape):
    case = draw_requests(shape, torch.float32)
    q = draw_query(case, shape, torch.float32)
    out, lse = sparse_decode_attention(q, case.k, case.v, case.kv_len, slot_table=case.slot_table)
    last = (case.kv_len - 1).clamp(min=0)
    each = indices(torch.arange(shape.requests + 1))
    prefill, prefill_lse = sparse_prefill_attention(q, last, each, case.k, case.v, case.slot_table, case.kv_len)
    assert_close("out", out, prefill.double())
    assert_close("lse", lse, prefill_lse.double(), unit=1.0)


@given(shape=shapes, shares=st.integers(2, 9))
def test_in_how_many_shares_the_keys_are_read_changes_nothing(shape, shares):
    case = draw_requests(shape, torch.float32)
    q = draw_query(case, shape, torch.float32)
    one, many = (
        sparse_decode_attention(q, case.k, case.v, case.kv_len, slot_table=case.slot_table, splits=count)[0]
        for count in (1, shares)
    )
    assert_close("out", many, one.double())


@given(requests=st.integers(1, 256), heads=st.integers(1, 64), places=st.integers(1, 200_000))
def test_the_shares_fill_the_gpu_and_are_no_more_than_there_are_tiles(requests, heads, places):
    shares = choose_splits(requests, heads, places, 64)
    assert 1 <= shares <= max(1, -(-places // 64))
    # one long request among short ones is read by many programs, whatever the batch
    assert shares >= min(-(-places // 2048), 64)
    if requests * heads >= 264 and places <= 2048:
        assert shares == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda case: {"slot_table": None}, "either a slot_table or a page_table"),
        (lambda case: {"page_table": case.shared_table}, "either a slot_table or a page_table"),
        (lambda case: {"page_list": case.shared_table}, "given both, or neither"),
        (lambda case: {"kv_len": case.kv_len[:1]}, "kv_len has shape"),
        (lambda case: {"slot_table": case.slot_table[:, ::2]}, "the table has strides"),
        (lambda case: {"q": case.q[:2, :3]}, "q has 3 heads, k has 2"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(change, message):
    case = draw_requests(Shape(1, 16, 2, 4, 32, 2, 0.5, 2), torch.float32)
    arguments = {"q": case.q[:2], "k": case.k, "v": case.v, "kv_len": case.kv_len, "slot_table": case.slot_table}
    with pytest.raises(ValueError, match=message) as refused:
        sparse_decode_attention(**(arguments | change(case)))
    assert "\n" not in str(refused.value)
