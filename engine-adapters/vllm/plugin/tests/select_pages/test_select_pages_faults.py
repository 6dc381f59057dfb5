"""Whatever fails, selection ends for good and logs why, and the engine continues as stock."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from pages_engine import PagesEngine, prompt, said
from reuse_model import make_model

from reprise_vllm.select_pages import page_worker

PROMPTS = [prompt(seed, 300 + 50 * seed) for seed in range(4)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesEngine]:
    engine = PagesEngine(make_model(tmp_path_factory.mktemp("faults") / "model"), {})
    engine.stock = [said(one) for one in engine.ask(PROMPTS)]
    yield engine
    engine.close()
    assert engine.core.vllm_config.instance_id not in page_worker._workers, "an engine that has ended is forgotten"


@pytest.fixture(autouse=True)
def as_at_the_start(engine: PagesEngine) -> Iterator[None]:
    engine.forget()
    engine.selection.refusal, engine.selection.is_proven = None, False
    engine.counts()
    yield
    engine.selection.refusal, engine.selection.is_proven = None, False


def prove(engine: PagesEngine) -> None:
    engine.ask([prompt(9, 200)], 0.5, tokens=3)
    assert engine.selection.is_proven
    engine.forget()
    engine.counts()


def fail(*arguments: Any, **named: Any) -> Any:
    raise RuntimeError("as if something were wrong")


@pytest.mark.parametrize("where", ["rewrite", "in_layer"])
def test_a_fault_while_serving_ends_selection_for_good(engine, monkeypatch, where):
    prove(engine)
    with monkeypatch.context() as patch:
        patch.setattr(engine.selection, where, fail)
        answers = engine.ask(PROMPTS, 0.25)
    assert [said(one) for one in answers] == engine.stock
    assert engine.selection.refusal == "fault" and engine.counts()["pages_refused", "fault"] == 1
    # the fault is gone, but selection stays off
    engine.forget()
    assert [said(one) for one in engine.ask(PROMPTS, 0.25)] == engine.stock
    assert engine.counts()["pages_stock", "fault"] == len(PROMPTS)


def test_a_fault_in_a_middle_layer_is_served_by_stock_metadata(engine, monkeypatch):
    prove(engine)
    in_layer = engine.selection.in_layer

    def fail_in_the_second(step: Any, index: int, query: torch.Tensor) -> None:
        return fail() if index == 1 else in_layer(step, index, query)

    monkeypatch.setattr(engine.selection, "in_layer", fail_in_the_second)
    answers = engine.ask(PROMPTS, 0.25)
    assert engine.selection.refusal == "fault"
    assert [len(said(one)) for one in answers] == [40] * len(PROMPTS)


def keys_of_another_block(engine: PagesEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = engine.selection.chooser.layout
    read = layout.read
    monkeypatch.setattr(layout, "read", lambda cache, blocks, begin, end: read(cache, blocks.roll(1), begin, end))


def pages_that_are_left_out(engine: PagesEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    in_layer = engine.selection.in_layer

    def with_a_page_twice(step: Any, index: int, query: torch.Tensor) -> None:
        in_layer(step, index, query)
        blocks = engine.selection.tables.blocks
        blocks[step.rows, 0] = blocks[step.rows, 1]

    monkeypatch.setattr(engine.selection, "in_layer", with_a_page_twice)


@pytest.mark.parametrize("wrong", [keys_of_another_block, pages_that_are_left_out])
def test_the_self_test_finds_what_is_wrong_and_no_answer_is_touched(engine, monkeypatch, wrong):
    wrong(engine, monkeypatch)
    answers = engine.ask(PROMPTS, 0.25)
    assert [said(one) for one in answers] == engine.stock
    assert engine.selection.refusal == "self_test" and engine.counts()["pages_refused", "self_test"] == 1
