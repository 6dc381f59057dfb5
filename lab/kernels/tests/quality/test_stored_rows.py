"""Tokens over rows that were computed elsewhere."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")

from quality.stored_rows import Model, Rows, joined


@pytest.fixture(scope="module")
def model(save_llama: Callable[[int], Path]) -> Model:
    return Model(str(save_llama(3)), 512)


TOKENS = torch.randint(0, 97, (40,), generator=torch.Generator().manual_seed(1)).tolist()


def test_that_parts_are_computed_as_the_whole_is(model: Model) -> None:
    whole = model.compute(TOKENS, torch.arange(40), None)
    first = model.compute(TOKENS[:25], torch.arange(25), None)
    last = model.compute(TOKENS[25:], 25 + torch.arange(15), first.rows, with_attention=True)
    torch.testing.assert_close(last.hidden, whole.hidden[25:], atol=1e-5, rtol=1e-5)
    assert last.attention.shape == (3, 25)
    assert (last.attention.sum(1) < 1).all()


def test_that_attention_within_rows_is_a_soft_max_over_these_alone(model: Model) -> None:
    rows = model.compute(TOKENS[:25], torch.arange(25), None).rows
    last = 25 + torch.arange(15)
    for within in (0, 7):
        attention = model.compute(TOKENS[25:], last, rows, with_attention=True, within=within).attention
        assert attention.shape == (3, 25)
        assert (attention[:, :within] == 0).all()
        torch.testing.assert_close(attention.sum(1), torch.ones(3))


def test_that_rows_computed_again_amid_stored_ones_are_as_in_full(model: Model) -> None:
    whole = model.compute(TOKENS, torch.arange(40), None)
    kept = torch.ones(30, dtype=torch.bool)
    kept[[3, 4, 20]] = False
    before = Rows(*(part[:, :, :30] if part.dim() > 1 else part[:30] for part in whole.rows)).picked(kept)
    again = torch.tensor([3, 4, 20, *range(30, 40)])
    done = model.compute([TOKENS[at] for at in again], again, before)
    torch.testing.assert_close(done.hidden, whole.hidden[again], atol=1e-5, rtol=1e-5)


def test_that_moved_rows_are_those_of_the_other_place(model: Model) -> None:
    here, there = (model.compute(TOKENS, begin + torch.arange(40), None).rows for begin in (0, 9))
    torch.testing.assert_close(model.moved(here, 9).keys, there.keys, atol=1e-4, rtol=1e-4)
    assert joined([here, model.moved(there, 40)]).positions.tolist() == list(range(80))
