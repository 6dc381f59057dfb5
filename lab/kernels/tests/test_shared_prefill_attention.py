"""The paper's layout against its specification, and against the slot table of the released kernel."""

import pytest
import torch
from cases import DTYPES
from chunked_requests import Shape, draw_requests
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.shared_prefill_attention import naive_shared_prefill_attention, shared_prefill_attention
from reprise_kernels.sparse_prefill_attention import naive_sparse_prefill_attention

SLOTS = ("q", "q_pos", "cu_q", "k", "v", "slot_table", "kv_len")
SHARED = ("q", "q_pos", "cu_q", "k", "v", "shared_table", "shared_len", "own_table", "own_pos")
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


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes)
def test_the_papers_layout_masks_stale_originals_and_equals_the_slot_table(dtype, shape):
    case = draw_requests(shape, dtype)
    expected, expected_lse = naive_shared_prefill_attention(*case.cpu(*SHARED))
    by_slots, _ = naive_sparse_prefill_attention(*case.cpu(*SLOTS))
    torch.testing.assert_close(by_slots, expected, rtol=1e-12, atol=1e-12)
    out, lse = shared_prefill_attention(*(getattr(case, name) for name in SHARED))
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, dtype, unit=1.0)


def test_rows_behind_the_last_request_pad_a_captured_graph_and_are_nothing(monkeypatch):
    # fill new memory with NaN, which would otherwise contain what was freed just before
    monkeypatch.setattr(torch, "empty_like", lambda like: torch.full_like(like, torch.nan))
    monkeypatch.setattr(torch, "empty", lambda shape, **how: torch.full(shape, torch.nan, **how))
    case = draw_requests(Shape(1, 16, 1, 4, 32, 2, 0.5, 2), torch.float32)
    used = len(case.q)
    case.q = torch.cat([case.q, torch.ones_like(case.q)])
    case.q_pos = torch.cat([case.q_pos, case.q_pos])
    out, lse = shared_prefill_attention(*(getattr(case, name) for name in SHARED))
    assert_close("out", out, naive_shared_prefill_attention(*case.cpu(*SHARED))[0])
    assert torch.all(out[used:] == 0)
    assert torch.all(lse[used:] == -torch.inf)
