"""The question's attention: how much memory it takes, and what ranks do if one of them fails."""

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from reprise_reuse.pieces import Load
from reprise_reuse.rows.evidence import Sight, attend_over, attend_to_copies, attention_of_questions
from reprise_reuse.rows.row_choice import OpenLoad

HEADS, GROUP, SIZE, COUNT, END = 4, 2, 16, 32, 500


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def pages(**more: Any) -> SimpleNamespace:
    rows = drawn(END, HEADS, SIZE), drawn(END, HEADS, SIZE) + 1
    return SimpleNamespace(scale=0.25, rows_of=lambda *_: rows, captured=None, sights=[Sight()] * 3, **more)


def opened() -> OpenLoad:
    asked = list(range(END, END + COUNT))
    load = Load("r", np.zeros(END + COUNT, np.int32), [], END, END, [], asked, 1, "prophetkv", is_asynchronous=False)
    return OpenLoad(load, np.arange(END), torch.device("cpu"))


QUESTION = drawn(COUNT, HEADS * GROUP * SIZE), drawn(COUNT, HEADS * SIZE), drawn(COUNT, HEADS * SIZE) - 1


class Largest(TorchDispatchMode):
    """Notes the most numbers that a tensor made inside it has."""

    most = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        made = function(*arguments, **(named or {}))
        if isinstance(made, torch.Tensor):
            self.most = max(self.most, made.numel())
        return made


def test_weights_of_one_head_at_a_time_are_held_and_nothing_else_changes():
    scores = torch.zeros(1, 1, END)
    attend = attend_to_copies(pages(), [opened()], scores)
    output = torch.empty_like(QUESTION[0])
    with Largest() as largest:
        attend(0, *QUESTION, output)
    assert largest.most <= max(GROUP * COUNT * (END + COUNT), END * HEADS * SIZE)
    keys, values = pages().rows_of()
    q, k, v = QUESTION
    keys, values = (torch.cat((a, b.view(-1, HEADS, SIZE))) for a, b in ((keys, k), (values, v)))
    sees = torch.ones(COUNT, COUNT, dtype=torch.bool).tril()
    weights, expected = attend_over(q, keys.permute(1, 2, 0), values.transpose(0, 1), scale=0.25, sees=sees)
    torch.testing.assert_close(output, expected.flatten(1))
    torch.testing.assert_close(scores[0, 0], weights[..., :END].mean((0, 1)))


def test_if_one_rank_fails_none_waits_and_it_alone_knows_it():
    barrier, parts = threading.Barrier(2, timeout=5), {}
    outcomes: dict[int, Exception | None] = {}

    def rank(number: int) -> None:
        def sum_over_ranks(scores: torch.Tensor) -> torch.Tensor:
            parts[number] = scores
            barrier.wait()
            return sum(parts.values())

        def ask(tokens: torch.Tensor, at: torch.Tensor, attend: Any) -> None:
            for layer in range(3):
                attend(layer, *QUESTION, torch.empty_like(QUESTION[0]))
                # the model adds up its parts after each layer
                barrier.wait()

        prompt = pages(
            layers=3, positions=1000, ranks=2, reads_in_place=False, sum_over_ranks=sum_over_ranks,
            forward=SimpleNamespace(ask=ask),
        )  # fmt: skip
        if number:
            prompt.rows_of = lambda *_: 1 / 0
        try:
            attention_of_questions(prompt, [opened()])
            outcomes[number] = None
        except Exception as error:
            outcomes[number] = error

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    # it leaves the load to vLLM, and computes as many rows as the other until then
    assert isinstance(outcomes[1], ZeroDivisionError) and outcomes[0] is None
