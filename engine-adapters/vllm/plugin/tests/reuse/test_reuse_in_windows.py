"""Reuse where some layers see a window only: vLLM gives their blocks back, and reuse needs rows that they held."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from reuse_model import BLOCK, ReusingEngine
from reuse_prompts import FIRST, OTHER, QUESTION, difference, full_attention, prompt, said, tokens
from served_models import WINDOWED, make_served_model, start_quickly

from reprise_reuse.pieces import Load, Piece
from reprise_reuse.rows.stored_rows import parts_with_blocks
from reprise_vllm.reuse.worker import reuse_worker

WINDOW, GROUPS = 64, 3


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    model = tmp_path_factory.mktemp("windows")
    make_served_model(model, *WINDOWED["Gemma 3"])
    engine = start_quickly(lambda: ReusingEngine(model, {"host_bytes": 8 << 20}, num_gpu_blocks_override=160))
    assert engine.reuse.is_ready, engine.reuse.refusal
    yield engine
    start_quickly(engine.core.shutdown)


@pytest.fixture(autouse=True)
def only_the_first_prompt_is_known(engine: ReusingEngine) -> None:
    engine.reset()
    engine.ask([FIRST])
    engine.counts()


@pytest.fixture
def loads(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> list[Load]:
    """The loads since the test began."""
    seen: list[Load] = []
    begin = engine.worker.begin_step
    monkeypatch.setattr(engine.worker, "begin_step", lambda step: (seen.extend(step.loads), begin(step))[1])
    return seen


def is_like(answer: Any, expected: Any) -> bool:
    return said(answer) == said(expected) and difference(answer, expected) < 1e-3


def nothing_is_held(engine: ReusingEngine) -> bool:
    pool = engine.core.scheduler.kv_cache_manager.block_pool
    return not engine.reuse._windows._held and pool.get_num_free_blocks() == pool.num_gpu_blocks - 1


def test_what_stands_after_the_same_tokens_needs_rows_only_within_reach_of_what_follows(engine, loads):
    # vLLM has forgotten the prompt, and host memory has not
    assert engine.llm.reset_prefix_cache()
    asked = [*FIRST[:-QUESTION], *tokens(5, QUESTION)]
    answer = engine.ask([asked], {"reuse": 0})[0]
    counted = engine.tokens_by_kind()
    (load,) = loads
    assert counted["exact"] >= len(asked) - QUESTION - BLOCK and counted["reused"] == counted["recomputed"] == 0
    blocks = np.array(load.blocks) != 0
    needed = np.arange(blocks.shape[1]) >= (load.end - WINDOW + 1) // BLOCK
    # what is missing in the question's place is computed, and sees as far back
    for of_group, group in zip(blocks, engine.worker.groups, strict=True):
        assert (of_group == (needed if group.window else True)).all()
    assert not needed.all()
    assert is_like(answer, full_attention(engine, asked))


def test_blocks_are_held_while_rows_are_computed_and_given_back_when_they_are_stored(engine, loads):
    engine.ask([OTHER], {"reuse": 0.3})
    (load,) = loads
    assert load.budget > 0 and (np.array(load.blocks)[:, BLOCK:] != 0).all()
    assert nothing_is_held(engine)


def test_prompts_that_come_together_and_in_parts_get_the_answers_that_each_gets_alone(engine):
    others = [OTHER, prompt([5, 4, 3, 2, 1, 0], 3), tokens(9, 300)]
    alone = [full_attention(engine, one) for one in others]
    together = engine.ask(others, {"reuse": 1.0})
    assert engine.counts()["loads", "late"] == 2
    assert all(is_like(a, b) for a, b in zip(together, alone, strict=True))
    assert nothing_is_held(engine)


def test_an_approximate_turn_is_continued(engine):
    answer = engine.ask([OTHER], {"reuse": 0}, tokens=8)[0]
    engine.counts()
    engine.ask([[*OTHER, *said(answer), *tokens(8, 60)]], {"reuse": 0})
    counted = engine.tokens_by_kind()
    # of the turn, nothing is looked up in segments again
    assert counted["reused"] > 400 and engine.counts()["loads", "late"] == 0


def test_a_prompt_whose_blocks_may_not_fit_is_served_as_stock(engine):
    long = [*OTHER, *tokens(11, 950)]
    assert GROUPS * len(long) / BLOCK > engine.core.scheduler.kv_cache_manager.block_pool.num_gpu_blocks
    answer = engine.ask([long], {"reuse": 0})[0]
    counts = engine.counts()
    assert counts["stock", "no_room"] == 1 and counts["tokens", "reused"] == 0
    assert is_like(answer, full_attention(engine, long))


def test_if_rows_are_lost_vllm_computes_the_prompt(engine):
    expected = full_attention(engine, OTHER)
    engine.counts()
    engine.worker.store.owners[:] = -1
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    counts = engine.counts()
    assert counts["loads", "failed"] == 1 and counts["tokens", "reused"] == 0
    assert is_like(answer, expected) and engine.reuse.is_ready
    assert nothing_is_held(engine)


def test_if_rows_cannot_be_computed_vllm_computes_the_prompt(engine, monkeypatch):
    expected = full_attention(engine, OTHER)
    compute, failed = reuse_worker.compute_rows, []

    def fail_once(*given: Any) -> None:
        failed.append(True)
        if len(failed) == 1:
            raise RuntimeError("out of memory")
        compute(*given)

    monkeypatch.setattr(reuse_worker, "compute_rows", fail_once)
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert failed and engine.counts()["faults", "computing"] == 1
    assert is_like(answer, expected) and engine.reuse.is_ready
    assert nothing_is_held(engine)


def test_a_checked_answer_of_full_attention_does_not_diverge(engine):
    from reprise_reuse.pieces import Check
    from reprise_reuse.rows.compare_answers import compare_answers
    from reprise_reuse.start.measure_costs import _compute

    ids, blocks = np.array(OTHER, np.int32), [list(range(1 + 30 * at, 31 + 30 * at)) for at in range(GROUPS)]
    with torch.inference_mode():
        _compute(engine.worker, ids, np.arange(len(ids)), blocks, BLOCK)
        divergence, is_same = compare_answers(engine.worker, Check(ids, blocks))
    assert is_same and abs(divergence) < 1e-5


@pytest.mark.parametrize(
    "blocks, expected",
    [
        ([1, 2, 3], [(3, 9)]), ([0, 0, 3], [(8, 9)]), ([1, 0, 3], [(3, 4), (8, 9)]), ([0, 0, 0], []),
        ([0, 2, 0], [(4, 8)]),
    ],
)  # fmt: skip
def test_a_piece_is_cut_where_there_are_no_blocks(blocks, expected):
    slots = np.arange(10, 16)
    parts = list(parts_with_blocks(Piece(3, 9, slots, 7), blocks, 4))
    assert [(one.start, one.end) for one in parts] == expected
    assert all((one.slots == np.arange(one.start + 7, one.end + 7)).all() for one in parts)
