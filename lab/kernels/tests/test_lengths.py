"""A length or count that exceeds its table counts as the size of the table, in every operation."""

import pytest
import torch
from cases import DEVICE, generator, indices
from comparison import assert_close

from lab_kernels.hierarchical_select import Hierarchy, hierarchical_select, naive_hierarchical_select
from lab_kernels.kv_deviation import kv_deviation, naive_kv_deviation, value_norm
from lab_kernels.launch.launch_table import trying
from lab_kernels.page_summary import mean_rows, naive_mean_rows, naive_recent_anchor, recent_anchor
from lab_kernels.select_tokens import naive_select_tokens, select_tokens
from lab_kernels.shared_prefill_attention import naive_shared_prefill_attention, shared_prefill_attention
from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention
from lab_kernels.weighted_deviation import naive_weighted_deviation, weighted_deviation
from reprise_kernels.question_scores import naive_question_scores, question_scores
from reprise_kernels.sparse_prefill_attention import naive_sparse_prefill_attention, sparse_prefill_attention

PAGE, HEADS, HEAD_DIM = 16, 2, 32
# the first request's length is past the end of its row, where the slots of the second follow
TABLE, LENGTHS = torch.arange(2 * 21).view(2, 21), torch.tensor([40, 20])


def draw() -> tuple[torch.Tensor, ...]:
    """Draws queries of 5 tokens in two requests, their positions and starts, and a cache of 4 pages."""
    random = generator(1)
    q = torch.randn(5, 2 * HEADS, HEAD_DIM, generator=random)
    k = torch.randn(4, PAGE, HEADS, HEAD_DIM, generator=random)
    return q, torch.tensor([30, 39, 19, 100, 3]), torch.tensor([0, 2, 5]), k


def on_device(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """Returns the tensors on the kernels' device, integers as int32."""
    return [tensor.to(DEVICE) if tensor.is_floating_point() else indices(tensor) for tensor in tensors]


def test_prefill_reads_no_slot_past_the_end_of_a_row():
    q, q_pos, cu_q, k = draw()
    given = (q, q_pos, cu_q, k, k, TABLE, LENGTHS)
    out, lse = sparse_prefill_attention(*on_device(*given))
    expected, expected_lse = naive_sparse_prefill_attention(*given)
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, unit=1.0)


def test_prefill_of_the_papers_layout_reads_no_page_past_the_end_of_a_row():
    q, q_pos, cu_q, k = draw()
    given = (q, q_pos, cu_q, k, k, torch.tensor([[2], [1]]), LENGTHS, torch.tensor([[3], [0]]))
    own_pos = torch.tensor([[16, 3, *[-1] * 14], [2, *[-1] * 15]])
    out, _ = shared_prefill_attention(*on_device(*given, own_pos))
    assert_close("out", out, naive_shared_prefill_attention(*given, own_pos)[0])


@pytest.mark.parametrize("paged", [False, True], ids=["slots", "pages"])
@pytest.mark.parametrize("listed", [False, True], ids=["all", "listed"])
def test_decode_reads_nothing_past_the_end_of_a_row(paged, listed):
    q, _, _, k = draw()
    where = {"page_table": torch.tensor([[3, 1], [2, 0]])} if paged else {"slot_table": TABLE}
    if listed:
        # the first request counts three pages but lists only one; the second request's list follows it
        where |= {"page_list": torch.tensor([[1], [0]]), "page_count": torch.tensor([3, 1])}
    where["kv_len"] = torch.tensor([40, 20])
    out, lse = sparse_decode_attention(
        q[:2].to(DEVICE), k.to(DEVICE), k.to(DEVICE), **{name: indices(one) for name, one in where.items()}
    )
    expected, expected_lse = naive_sparse_decode_attention(q[:2], k, k, **where)
    assert_close("out", out, expected)
    assert_close("lse", lse, expected_lse, unit=1.0)


def test_the_questions_scores_are_of_no_slot_past_the_end_of_a_row():
    q, q_pos, cu_q, k = draw()
    given = (q, q_pos, cu_q, torch.ones(q.shape[:2]) * 3, k, TABLE, LENGTHS)
    scores = question_scores(*on_device(*given))
    assert_close("scores", scores, naive_question_scores(*given))


def test_deviations_are_of_no_token_past_the_end_of_a_row():
    _, _, _, k = draw()
    fresh = torch.randn(60, HEADS, HEAD_DIM, generator=generator(2))
    starts, weights = torch.tensor([0, 40, 60]), torch.rand(2, 21, generator=generator(3))
    some = on_device(fresh, k, starts, TABLE, LENGTHS)
    expected = naive_kv_deviation([fresh], [k], starts, TABLE, LENGTHS)
    assert_close("deviation", kv_deviation([some[0]], [some[1]], *some[2:]), expected)
    assert_close("norm", value_norm(some[1], *some[3:]), naive_kv_deviation([], [k], starts, TABLE, LENGTHS))
    expected = naive_weighted_deviation(weights, weights, fresh, k, starts, TABLE, LENGTHS)
    (of_both,) = on_device(weights)
    assert_close("weighted", weighted_deviation(of_both, of_both, *some), expected)


def test_means_are_of_no_row_past_the_end():
    rows, index = torch.randn(9, 30, generator=generator(1)), torch.arange(8).view(2, 4)
    count = torch.tensor([7, 3])
    of_index, of_rows = on_device(rows, count, index), on_device(rows[:8].view(2, 4, 30), count)
    assert_close("means", mean_rows(*of_index[:2], 3, of_index[2]), naive_mean_rows(rows, count, 3, index))
    assert_close("means", mean_rows(*of_rows, 3), naive_mean_rows(rows[:8].view(2, 4, 30), count, 3, None))
    assert_close("anchor", recent_anchor(*of_index[:2], 3, of_index[2]), naive_recent_anchor(rows, count, 3, index))


@pytest.mark.parametrize("config", [{"block": 64, "warps": 16}, {"cluster": 2, "warps": 2}], ids=str)
@pytest.mark.parametrize("capacity", [None, 2, 9])
@pytest.mark.parametrize("ratio", [0.3, 0.5, 1.0])
def test_the_best_share_is_of_the_scores_that_are_there(config, capacity, ratio):
    scores, lengths = torch.tensor([[0.0, 1, 2, 3], [9, 8, 7, 6], [4, 5, 6, 7]]), torch.tensor([6, 4, -1])
    with trying("select_tokens", config):
        positions, counts = select_tokens(*on_device(scores, lengths), ratio, capacity)
    expected, expected_counts = naive_select_tokens(scores, lengths, ratio, capacity)
    assert torch.equal(counts.cpu(), expected_counts)
    assert torch.equal(positions.cpu(), expected)


@pytest.mark.parametrize("selection", ["select_warps", "cuda_warps"])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_no_page_past_the_end_of_a_row_is_selected(selection, share):
    hierarchy = Hierarchy(4, 2, share, share, share, sinks=0, recent=1)
    summaries = torch.arange(20.0).expand(4, 20).t().contiguous()
    given = (torch.ones(2, 4), summaries, torch.arange(10).view(2, 5), torch.tensor([8, 2]))
    with trying("hierarchical_select", {"pages": 16, "columns": 64, "score_warps": 4, selection: 2}):
        chosen, counts = hierarchical_select(*on_device(*given), hierarchy)
    expected, expected_counts = naive_hierarchical_select(*given, hierarchy)
    assert torch.equal(counts.cpu(), expected_counts)
    assert torch.equal(chosen.cpu(), expected)
