"""What a full prefill tells of stored rows."""

from types import SimpleNamespace

import torch

from quality.references import evidence_of_prefill
from reprise_reuse.methods import Evidence
from reprise_reuse.rows.evidence import Sight

END, TOKENS, HEADS, SIZE = 6, 9, 2, 4


def test_that_a_full_prefill_finds_the_rows_whose_keys_or_values_moved() -> None:
    q, k, v = torch.randn(3, TOKENS, HEADS * SIZE, generator=torch.Generator().manual_seed(0))
    keys, values = (one[:END].view(END, HEADS, SIZE).clone() for one in (k, v))
    keys[2, 1, 0] += 3
    values[4, 0, 1] -= 2
    prompt = SimpleNamespace(
        layers=1, scale=0.5, sights=[Sight()], rows_of=lambda *_: (keys, values), sum_over_ranks=lambda scores: scores,
        forward=SimpleNamespace(ask=lambda tokens, at, attend: attend(0, q, k, v, torch.empty_like(q))),
    )  # fmt: skip
    load = SimpleNamespace(end=END, question=[7, 8])
    one = SimpleNamespace(load=load, tokens=torch.zeros(TOKENS, dtype=torch.int64), blocks=None)
    found = evidence_of_prefill(prompt, one, Evidence(None, torch.zeros(END), torch.zeros(END)))
    torch.testing.assert_close(found["key_deviation"][0], torch.tensor([0.0, 0, 3, 0, 0, 0]))
    torch.testing.assert_close(found["deviation"][0], torch.tensor([0.0, 0, 0, 0, 2, 0]))
    assert (found["full_attention"] > 0).all()
