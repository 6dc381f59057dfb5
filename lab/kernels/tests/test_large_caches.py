"""Caches of more than 2^31 numbers with distant heads: offsets of heads do not fit into int32.

Untouched memory costs nothing on a CPU, so only what is read is written.
"""

from functools import cache

import pytest
import torch
from cases import DEVICE, generator, indices
from comparison import assert_close

from lab_kernels.kv_deviation import kv_deviation, naive_kv_deviation, value_norm
from lab_kernels.page_summary import naive_page_summary, page_summary
from lab_kernels.rope_shift import naive_rope_shift, rope_shift
from lab_kernels.rope_shift.rotary import plain_rotary
from lab_kernels.shared_prefill_attention import naive_shared_prefill_attention, shared_prefill_attention
from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention
from reprise_kernels.question_scores import naive_question_scores, question_scores
from reprise_kernels.sparse_prefill_attention import naive_sparse_prefill_attention, sparse_prefill_attention

HEADS, HEAD_DIM, PAGE, TOKENS = 4, 64, 16, 6
# two strides of a head are 2^31; one is less, and so is passed as an int32
SLOTS = 1 << 24
WHERE, DENSE = [SLOTS - 1, 3, SLOTS - 17, SLOTS - 40, SLOTS - 100, 7], [*range(TOKENS)]
POSITIONS, STARTS, LENGTH = indices([4, 5]), indices([0, 2]), indices([TOKENS])


@cache
def memory() -> torch.Tensor:
    """Uninitialised memory, heads outermost, [heads, slots, head size], as one tensor for all tests."""
    try:
        return torch.empty(HEADS, SLOTS, HEAD_DIM, dtype=torch.float16, device=DEVICE)
    except RuntimeError as error:
        pytest.skip(f"there is no room for a cache of 2^32 numbers: {error}")


def caches() -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the same tokens in a large cache with distant heads, and in a small one of one page."""
    small = torch.zeros(1, PAGE, HEADS, HEAD_DIM, dtype=torch.float16, device=DEVICE)
    small[0, :TOKENS] = torch.randn(TOKENS, HEADS, HEAD_DIM, generator=generator(1)).half().to(DEVICE)
    large = memory().view(HEADS, -1, PAGE, HEAD_DIM).permute(1, 2, 0, 3)
    for place, slot in enumerate(WHERE):
        large[slot // PAGE, slot % PAGE] = small[0, place]
    return large, small


def queries() -> torch.Tensor:
    """Two queries of 8 heads."""
    return torch.randn(2, 2 * HEADS, HEAD_DIM, generator=generator(2)).half().to(DEVICE)


def test_prefill_finds_every_head_of_keys():
    large, small = caches()
    of_small = (queries().cpu(), POSITIONS.cpu(), STARTS.cpu(), small.cpu(), small.cpu())
    table = torch.tensor([DENSE])
    expected, _ = naive_sparse_prefill_attention(*of_small, table, LENGTH.cpu())
    given = (queries(), POSITIONS, STARTS, large, large, indices([WHERE]), LENGTH)
    out, _ = sparse_prefill_attention(*given)
    assert_close("out", out, expected)


def test_prefill_of_the_papers_layout_finds_every_head_of_keys():
    large, small = caches()
    last = len(large) - 1
    # put all tokens into the last page, at the same places as in the small cache
    large[last] = small[0]
    own, none = torch.zeros(1, 0), torch.zeros(1, 0)
    given = (queries(), POSITIONS, STARTS, large, large, indices([[last]]), LENGTH, indices(own), indices(none))
    of_small = (queries().cpu(), POSITIONS.cpu(), STARTS.cpu(), small.cpu(), small.cpu(), torch.tensor([[0]]))
    expected, _ = naive_shared_prefill_attention(*of_small, LENGTH.cpu(), own, none)
    assert_close("out", shared_prefill_attention(*given)[0], expected)


def test_decode_finds_every_head_of_keys():
    large, small = caches()
    expected, _ = naive_sparse_decode_attention(
        queries()[:1].cpu(), small.cpu(), small.cpu(), LENGTH.cpu(), slot_table=torch.tensor([DENSE])
    )
    out, _ = sparse_decode_attention(queries()[:1], large, large, LENGTH, slot_table=indices([WHERE]))
    assert_close("out", out, expected)


def test_the_questions_scores_find_every_head_of_keys():
    large, small = caches()
    lse = torch.full((2, 2 * HEADS), 3.0, device=DEVICE)
    expected = naive_question_scores(
        queries().cpu(), POSITIONS.cpu(), STARTS.cpu(), lse.cpu(), small.cpu(), torch.tensor([DENSE]), LENGTH.cpu(),
    )  # fmt: skip
    scores = question_scores(queries(), POSITIONS, STARTS, lse, large, indices([WHERE]), LENGTH)
    assert_close("scores", scores, expected, torch.float16)


def test_keys_of_every_head_move():
    large, small = caches()
    rotary, still, distance = plain_rotary(HEAD_DIM), indices([0] * TOKENS), torch.tensor([77], device=DEVICE)
    cpu, places = small.cpu(), torch.tensor(DENSE)
    expected = naive_rope_shift(cpu, places, still.cpu(), distance.cpu(), rotary, cpu, places)
    rope_shift(large, indices(WHERE), still, distance, rotary)
    moved = torch.stack([large[slot // PAGE, slot % PAGE] for slot in WHERE])
    assert_close("keys", moved, expected[0, :TOKENS])


def test_deviations_are_of_every_head():
    large, small = caches()
    fresh = torch.randn(TOKENS, HEADS, HEAD_DIM, generator=generator(3)).half().to(DEVICE)
    starts, table = indices([0, TOKENS]), torch.tensor([DENSE])
    expected = naive_kv_deviation([fresh.cpu()], [small.cpu()], starts.cpu(), table, LENGTH.cpu())
    assert_close("deviation", kv_deviation([fresh], [large], starts, indices([WHERE]), LENGTH), expected, large.dtype)
    expected = naive_kv_deviation([], [small.cpu()], starts.cpu(), table, LENGTH.cpu())
    assert_close("norm", value_norm(large, indices([WHERE]), LENGTH), expected, large.dtype)


def test_a_pages_summary_is_of_every_head():
    large, small = caches()
    last = len(large) - 1
    large[last] = small[0]
    out = torch.zeros(1, 1, HEADS * HEAD_DIM, dtype=torch.float16, device=DEVICE).expand(len(large), 1, -1)
    page_summary(large, indices([last]), LENGTH, 0, out)
    expected = naive_page_summary(small.cpu(), torch.tensor([0]), LENGTH.cpu(), 0, out[:1].cpu() * 0)
    assert_close("summary", out[:1], expected)


def test_queries_of_every_head_are_found():
    _, small = caches()
    far = memory()[:, :2].transpose(0, 1)
    far.copy_(queries()[:, :HEADS])
    lse = torch.full((2, HEADS), 3.0, device=DEVICE)
    table = indices([DENSE])
    expected = naive_question_scores(
        far.cpu(), POSITIONS.cpu(), STARTS.cpu(), lse.cpu(), small.cpu(), table.cpu(), LENGTH.cpu()
    )
    scores = question_scores(far, POSITIONS, STARTS, lse, small, table, LENGTH)
    assert_close("scores", scores, expected, torch.float16)
    expected, _ = naive_sparse_prefill_attention(
        far.cpu(), POSITIONS.cpu(), STARTS.cpu(), small.cpu(), small.cpu(), table.cpu(), LENGTH.cpu()
    )
    assert_close("out", sparse_prefill_attention(far, POSITIONS, STARTS, small, small, table, LENGTH)[0], expected)
