"""Compares our forwards with vLLM's own, in an engine that compiles its model as by default."""

from collections.abc import Iterator

import pytest
import torch
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, difference, full_attention, said

from reprise_vllm.engine.nested_forward import NestedForward


@pytest.fixture(scope="module", params=[False, True], ids=["compiled", "eager"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    model = make_model(tmp_path_factory.mktemp("engine") / "model")
    engine = ReusingEngine(model, {"host_bytes": 8 << 20}, enforce_eager=request.param)
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_cached_or_compared(engine: ReusingEngine) -> None:
    engine.reset()
    engine.reuse.refusal = None
    engine.worker.is_compared = False


def test_computing_everything_again_is_full_attention(engine):
    engine.ask([FIRST])
    assert engine.worker.is_compared and engine.reuse.refusal is None
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert engine.tokens_by_kind()["recomputed"] > 400
    expected = full_attention(engine, OTHER)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_a_part_of_the_rows_is_chosen_and_computed(engine):
    engine.ask([FIRST])
    engine.tokens_by_kind()
    engine.ask([OTHER], {"reuse": 0.2})
    counts = engine.tokens_by_kind()
    assert counts["recomputed"] > 90 and counts["reused"] > 4 * counts["recomputed"] - 100


@pytest.mark.parametrize("fault", ["positions", "tokens"])
def test_an_engine_that_computes_otherwise_than_we_do_does_not_reuse(engine, monkeypatch, fault):
    ask = NestedForward.ask

    def another(self, tokens: torch.Tensor, positions: torch.Tensor, attend) -> None:
        ask(self, *((tokens, positions + 1) if fault == "positions" else (tokens + 1, positions)), attend)

    monkeypatch.setattr(NestedForward, "ask", another)
    engine.ask([FIRST])
    assert "come out different here" in engine.reuse.refusal
    engine.counts()
    engine.ask([OTHER])
    counts = engine.counts()
    assert counts["tokens", "reused"] == 0 and counts["stock", "refused"] == 1
