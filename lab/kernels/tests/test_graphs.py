"""The operations of a decode step can be captured in a CUDA graph, once for requests of any length."""

from collections.abc import Callable

import pytest
import torch
from cases import DEVICE, generator, indices
from comparison import assert_close

from lab_kernels.hierarchical_select import Hierarchy, hierarchical_select, naive_hierarchical_select
from lab_kernels.launch.launch_spaces import SPACES
from lab_kernels.launch.launch_table import describe, trying
from lab_kernels.select_tokens import naive_select_tokens, select_tokens
from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention

Tensors = tuple[torch.Tensor, ...]


def capture(run: Callable[[], Tensors]) -> tuple[Callable[[], None], Tensors]:
    """Returns a replay of `run`, and the tensors that each replay writes."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = run()
    return graph.replay, results


@pytest.mark.gpu
@pytest.mark.parametrize("config", SPACES["select_tokens"], ids=describe)
def test_a_captured_selection_of_tokens_follows_scores_and_lengths(config):
    scores, lengths = torch.zeros(2, 90, device=DEVICE), indices([90, 90])
    with trying("select_tokens", config):
        replay, (positions, counts) = capture(lambda: select_tokens(scores, lengths, 0.15))
    for seed in range(3):
        scores.copy_(torch.rand(2, 90, generator=generator(seed)))
        lengths.copy_(indices([90 - 7 * seed, 11 * seed]))
        replay()
        expected, expected_counts = naive_select_tokens(scores.cpu(), lengths.cpu(), 0.15)
        assert torch.equal(positions.cpu(), expected)
        assert torch.equal(counts.cpu(), expected_counts)


@pytest.mark.gpu
@pytest.mark.parametrize("config", SPACES["hierarchical_select"], ids=describe)
def test_a_captured_decode_step_selects_pages_and_attends_to_them_as_requests_grow(config):
    random, hierarchy = generator(1), Hierarchy(pages=2, chunks=2, recent=1)
    k, v = (torch.randn(40, 16, 2, 32, generator=random).to(DEVICE) for _ in range(2))
    q, anchor = torch.randn(2, 8, 32, generator=random).to(DEVICE), torch.zeros(2, 5, device=DEVICE)
    # integers, so that no score is rounded
    summaries = torch.randint(-3, 4, (40, 5), generator=random).float().to(DEVICE) * 4
    table = indices(torch.randperm(40, generator=random).view(2, 20))
    pages, length = indices([20, 20]), indices([320, 320])

    def step() -> Tensors:
        page_list, count = hierarchical_select(anchor, summaries, table, pages, hierarchy)
        where = {"page_table": table, "page_list": page_list, "page_count": count}
        return page_list, count, *sparse_decode_attention(q, k, v, length, **where)

    with trying("hierarchical_select", config):
        replay, (page_list, count, out, _) = capture(step)
    for grown in (3, 9, 20):
        anchor.copy_(torch.randint(-3, 4, (2, 5), generator=random).float())
        pages.copy_(indices([grown, 20]))
        length.copy_(indices([grown * 16 - 5, 320]))
        replay()
        wanted, wanted_count = naive_hierarchical_select(
            anchor.cpu(), summaries.cpu(), table.cpu(), pages.cpu(), hierarchy
        )
        assert torch.equal(page_list.cpu(), wanted)
        assert torch.equal(count.cpu(), wanted_count)
        expected, _ = naive_sparse_decode_attention(
            q.cpu(), k.cpu(), v.cpu(), length.cpu(), page_table=table.cpu(), page_list=wanted, page_count=wanted_count
        )
        assert_close("out", out, expected)
