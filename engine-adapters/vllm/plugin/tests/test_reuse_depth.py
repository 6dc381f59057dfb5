"""Rows that are computed again go through the first layers only; rows that no segment holds go through all."""

from collections.abc import Iterator

import pytest
import torch
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, SYSTEM, difference, full_attention, said, tokens

from reprise_reuse.runs import to_runs

LAYERS, COMPUTED = 5, 4


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    model = make_model(tmp_path_factory.mktemp("model"), LAYERS)
    engine = ReusingEngine(model, {"host_bytes": 8 << 20, "rows_per_step": 4096, "depth": 0.8})
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()


@pytest.fixture
def computed(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], float]]:
    """The rows of each pass, and through which share of the layers they went."""
    passes: list[tuple[list[int], float]] = []
    compute = engine.worker.forward.compute

    def note(tokens, runs, blocks, depth=1):
        passes.append((runs.rows.tolist(), depth))
        compute(tokens, runs, blocks, depth)

    monkeypatch.setattr(engine.worker.forward, "compute", note)
    return passes


@torch.inference_mode()
def test_layers_behind_the_last_computed_one_keep_what_they_hold(engine):
    worker, rows = engine.worker, torch.ones(64, dtype=torch.bool)
    blocks = torch.tensor([1, 2])

    def pages():
        return [torch.stack(worker.rows_of(layer, blocks, 0, 64)).clone() for layer in range(LAYERS)]

    worker.forward.compute(torch.tensor(tokens(1, 64)), to_runs(rows), blocks)
    before = pages()
    worker.forward.compute(torch.tensor(tokens(2, 64)), to_runs(rows), blocks, depth=0.8)
    after = pages()
    assert [torch.equal(a, b) for a, b in zip(before, after, strict=True)] == [False] * COMPUTED + [True]
    worker.forward.compute(torch.tensor(tokens(2, 64)), to_runs(rows), blocks)
    assert all(torch.equal(a, b) for a, b in zip(after[:COMPUTED], pages()[:COMPUTED], strict=True))


def test_new_rows_are_computed_first_and_in_all_layers(engine, computed):
    engine.ask([FIRST])
    new = tokens(7, 90)
    computed.clear()
    engine.ask([OTHER[:200] + new + OTHER[200:]], {"reuse": 0.5})
    (whole, all_layers), (chosen, first_layers) = computed
    assert (all_layers, first_layers) == (1, 0.8)
    assert set(range(200, 290)) <= set(whole) and not set(whole) & set(chosen)
    assert min(chosen) >= SYSTEM and len(chosen) > 160


def test_few_rows_are_not_worth_a_forward_of_their_own(engine, computed):
    engine.ask([FIRST])
    computed.clear()
    engine.ask([OTHER[:200] + tokens(7, 90) + OTHER[200:]], {"reuse": 0.1})
    assert [depth for _, depth in computed] == [1]


def test_where_all_rows_are_computed_again_they_are_so_in_one_pass_and_in_all_layers(engine, computed):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    computed.clear()
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert [depth for _, depth in computed] == [1]
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_rows_of_a_slice_go_through_as_many_layers(engine, computed, monkeypatch):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=64))
    monkeypatch.setattr(engine.worker, "_rows_per_step", 64)
    engine.ask([FIRST])
    computed.clear()
    engine.ask([OTHER], {"reuse": 0.4})
    slices = [(rows, depth) for rows, depth in computed if depth < 1]
    assert len(slices) > 1 and all(depth == 0.8 for _, depth in slices)
    in_order = [row for rows, _ in slices for row in rows]
    assert in_order == sorted(set(in_order))
