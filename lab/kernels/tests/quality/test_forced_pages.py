"""The model that reads few pages, in one pass for a page of steps."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers")

from quality.pages.forced_pages import PAGE, Model
from reprise_pages.affinity import KeyAffinity
from reprise_pages.selectors import QuestBounds

PROMPT, ANSWER = 8 * PAGE, 2 * PAGE


@pytest.fixture(scope="module")
def model(save_llama: Callable[[int], Path]) -> Model:
    return Model(str(save_llama(2)))


def tokens(count: int, seed: int) -> list[int]:
    return torch.randint(0, 97, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def test_that_all_pages_listed_are_full_attention(model: Model) -> None:
    answer = tokens(ANSWER, 2)
    model.begin(tokens(PROMPT, 1))
    full = model.go_on(answer)
    model.rewind()
    model.reader.read(model.best_for_all_layers(KeyAffinity(), 8), model.pages)
    torch.testing.assert_close(model.go_on(answer), full, atol=1e-5, rtol=1e-5)
    model.rewind()
    model.reader.choose_by(QuestBounds(), 99)
    torch.testing.assert_close(model.go_on(answer), full, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("by_list", [True, False])
def test_that_a_page_of_steps_is_the_same_as_one_by_one(model: Model, by_list: bool) -> None:
    answer = tokens(ANSWER, 3)
    model.begin(tokens(PROMPT, 1))

    def go_on(size: int) -> torch.Tensor:
        model.rewind()
        if by_list:
            model.reader.read(torch.tensor([0, 3]), model.pages)
        else:
            model.reader.choose_by(QuestBounds(), 4)
        return torch.cat([model.go_on(answer[at : at + size]) for at in range(0, ANSWER, size)])

    at_once = go_on(PAGE)
    torch.testing.assert_close(at_once, go_on(1), atol=1e-5, rtol=1e-5)
    model.rewind()
    model.reader.read_all()
    assert (at_once - model.go_on(answer)).abs().max() > 1e-3
