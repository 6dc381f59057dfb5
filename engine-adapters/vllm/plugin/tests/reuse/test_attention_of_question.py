"""How much memory the question's attention takes."""

from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from reprise_vllm.reuse.worker.evidence import attend_over, attend_to_copies

HEADS, GROUP, SIZE, COUNT, END = 4, 2, 16, 32, 500


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def pages(**more: Any) -> SimpleNamespace:
    rows = drawn(END, HEADS, SIZE), drawn(END, HEADS, SIZE) + 1
    return SimpleNamespace(scale=0.25, rows_of=lambda *_: rows, **more)


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
    scores, known = torch.zeros(1, END), torch.ones(END, dtype=torch.bool)
    attend = attend_to_copies(pages(), torch.zeros(1), known, COUNT, scores)
    with Largest() as largest:
        output = attend(0, *QUESTION)
    assert largest.most <= max(GROUP * COUNT * (END + COUNT), END * HEADS * SIZE)
    keys, values = pages().rows_of()
    q, k, v = QUESTION
    keys, values = (torch.cat((a, b.view(-1, HEADS, SIZE))) for a, b in ((keys, k), (values, v)))
    sees = torch.ones(COUNT, COUNT, dtype=torch.bool).tril()
    weights, expected = attend_over(q, keys.permute(1, 2, 0), values.transpose(0, 1), scale=0.25, sees=sees)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(scores[0], weights[..., :END].sum((0, 1)))
