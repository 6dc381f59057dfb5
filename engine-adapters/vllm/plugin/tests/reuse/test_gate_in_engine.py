"""Reuse where it is predicted to be faster, and what an operator sees of it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, difference, full_attention, said

from reprise_reuse.costs import EVEN
from reprise_reuse.pieces import Check
from reprise_reuse.rows.compare_answers import compare_answers
from reprise_reuse.start.measure_costs import _compute
from reprise_vllm.usage.engine_metrics import ReuseMetrics, ReuseStats


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    reuse = {"host_bytes": 8 << 20, "rows_per_step": 4096}
    engine = ReusingEngine(make_model(tmp_path_factory.mktemp("model")), reuse, measures=True)
    # measured before any request, and by now replaced in tests, so that nothing depends on this machine's speed
    engine.measured = engine.reuse.costs, engine.worker.costs
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def collected(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> ReuseStats:
    """What vLLM collects during a test that begins with empty caches, and in which every row costs the same."""
    engine.reset()
    engine.reuse.observations.take()
    engine.reuse.costs = engine.worker.costs = EVEN
    collected, take = ReuseStats({}), engine.reuse.observations.take

    def take_stats() -> ReuseStats:
        stats = take()
        collected.aggregate(stats)
        return stats

    monkeypatch.setattr(engine.reuse.observations, "take", take_stats)
    return collected


def set_to(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
    monkeypatch.setattr(engine.reuse, "_settings", replace(engine.reuse._settings, **settings))


def test_both_sides_know_what_was_measured_at_the_start(engine):
    costs, of_worker = engine.measured
    assert costs == of_worker != EVEN
    assert min(costs.least, costs.question + costs.question_key, costs.filling + costs.filled_row) > 0
    assert costs.prefill(0, 256) > 0
    # nothing of it is left in host memory
    assert int(engine.worker.store.owners.min()) == -1


def test_a_request_that_would_be_slower_with_reuse_is_served_as_stock_and_says_so(engine, collected):
    engine.ask([FIRST])
    engine.reuse.costs = replace(EVEN, filling=1e6)
    engine.counts()
    answer = engine.ask([OTHER])[0]
    counts = engine.counts()
    assert counts["stock", "slower"] == 1 and counts["tokens", "reused"] == counts["loads", "now"] == 0
    assert difference(answer, full_attention(engine, OTHER)) < 1e-3
    assert len(collected.data["answer/stock"]) == 2 and len(collected.data["answer/cold"]) == 1


def test_a_load_is_counted_with_its_rows_its_step_and_its_seconds(engine):
    engine.ask([FIRST])
    engine.counts()
    engine.ask([OTHER])
    counts = engine.counts()
    assert counts["loads", "now"] == counts["load_steps", "now"] == 1 and not counts["loads", "failed"]
    assert counts["load_rows", "now"] >= counts["tokens", "recomputed"] > 0
    assert all(counts["seconds", phase] > 0 for phase in ("filling", "question", "rows"))
    assert counts["predicted", "rows"] == counts["load_rows", "now"]
    assert counts["predicted", "saved"] > counts["predicted", "rows"]


def test_a_late_load_is_counted_in_each_of_its_steps(engine, monkeypatch, collected):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=32))
    monkeypatch.setattr(engine.worker, "_rows_per_step", 32)
    engine.ask([FIRST])
    engine.counts()
    engine.ask([OTHER])
    counts = engine.counts()
    assert counts["loads", "late"] == 1
    assert counts["load_steps", "late"] >= counts["load_rows", "late"] / 32
    assert len(collected.data["answer/late"]) == 1


def test_a_failed_load_is_counted(engine, monkeypatch):
    engine.ask([FIRST])
    monkeypatch.setattr(engine.worker.forward, "compute", lambda *_: 1 / 0)
    engine.counts()
    engine.ask([OTHER])
    assert engine.counts()["loads", "failed"] == 1
    engine.worker._faults._score = 0


def test_checked_answers_diverge_as_much_as_little_is_computed_again(engine, monkeypatch, collected):
    set_to(engine, monkeypatch, check=1.0, when="always")
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(most_checked=len(OTHER)))
    engine.ask([FIRST])
    for ratio in (0.0, 0.5, 1.0):
        engine.reuse._continuations.clear()
        engine.ask([OTHER], {"reuse": ratio})
    # a worker reports with its next step
    engine.ask([FIRST], {"reuse": "off"}, salt="next")
    # where everything is computed again nothing is reused, and nothing is checked
    none, half = collected.data["divergence/reused"]
    assert collected.data.get("checks/same", 0) + collected.data.get("checks/other", 0) == 2
    assert none > half > 0


def test_a_checked_answer_of_full_attention_does_not_diverge(engine):
    tokens, blocks = np.array(OTHER, np.int32), [list(range(1, 40))]
    with torch.inference_mode():
        _compute(engine.worker, tokens, np.arange(len(tokens)), blocks, engine.worker._block_size)
        divergence, is_same = compare_answers(engine.worker, Check(tokens, blocks))
    assert is_same and abs(divergence) < 1e-5


def test_a_prompt_longer_than_a_step_is_not_checked(engine, monkeypatch, collected):
    set_to(engine, monkeypatch, check=1.0)
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(most_checked=len(OTHER) - 1))
    engine.ask([FIRST])
    engine.ask([OTHER])
    engine.ask([FIRST], {"reuse": "off"}, salt="next")
    assert "divergence/reused" not in collected.data


def test_nothing_is_checked_unless_the_operator_asks_for_it(engine, collected):
    engine.ask([FIRST])
    engine.ask([OTHER])
    assert not [name for name in collected.data if name.startswith(("checks", "divergence"))]


@pytest.mark.parametrize(("ratio", "adds"), [(1.0, True), (0.5, False)])
def test_segments_get_a_context_where_everything_was_computed_again_and_only_there(engine, monkeypatch, ratio, adds):
    set_to(engine, monkeypatch, when="always")
    engine.ask([FIRST])
    engine.counts()
    engine.ask([OTHER], {"reuse": ratio})
    assert (engine.counts()["segments", "averaged"] > 0) == adds
    # what was averaged in was computed by full attention
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert said(answer) == said(full_attention(engine, OTHER))


@pytest.mark.parametrize("reset_by", ["reset", "pause"])
def test_a_cache_is_reset_while_loads_are_open(engine, monkeypatch, reset_by):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=32))
    monkeypatch.setattr(engine.worker, "_rows_per_step", 32)
    set_to(engine, monkeypatch, when="always")
    engine.ask([FIRST])
    added = engine.llm.llm_engine
    added.add_request("late", {"prompt_token_ids": OTHER, "cache_salt": "t"}, engine.sampling({"reuse": 1.0}))
    added.add_request("running", {"prompt_token_ids": FIRST, "cache_salt": "u"}, engine.sampling({"reuse": "off"}, 64))
    added.step()
    added.step()
    assert engine.worker._late
    if reset_by == "reset":
        assert engine.core.reset_prefix_cache(reset_running_requests=True, reset_connector=True)
    else:
        engine.core.pause_scheduler("keep", clear_cache=True)
        engine.core.resume_scheduler()
    answers = {}
    for _ in range(200):
        answers |= {output.request_id: output.outputs[0] for output in added.step() if output.finished}
    assert not engine.worker._late and not engine.reuse._asked
    assert said(answers["late"]) == said(full_attention(engine, OTHER))
    assert len(said(answers["running"])) == 64


def test_everything_that_is_counted_has_a_metric(engine, monkeypatch, collected):
    set_to(engine, monkeypatch, check=1.0)
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(most_checked=len(OTHER)))
    engine.ask([FIRST])
    engine.ask([OTHER])
    engine.ask([FIRST], {"reuse": "off"}, salt="next")
    stats = ReuseStats(dict(collected.data))
    twice = ReuseStats(dict(stats.data)).aggregate(stats)
    assert len(twice.data["answer/reused"]) == 2 * len(stats.data["answer/reused"])
    assert all(isinstance(one, int | float) for one in twice.reduce().values())
    registry = CollectorRegistry()
    types = {one: _of(one, registry) for one in (Counter, Gauge, Histogram)}
    metrics = ReuseMetrics(engine.llm.llm_engine.vllm_config, types, ["engine"], {0: ["0"]})
    metrics.observe(stats.data)
    text = generate_latest(registry).decode()
    for line in (
        'vllm:reprise_time_to_first_token_seconds_count{engine="0",kind="reused"} 1.0',
        'vllm:reprise_check_divergence_count{engine="0",kind="reused"} 1.0',
        'vllm:reprise_loads_total{engine="0",kind="now"} 1.0',
        'vllm:reprise_phase_seconds_total{engine="0",phase="check"}',
        'vllm:reprise_predicted_seconds_total{engine="0",phase="saved"}',
    ):
        assert line in text


def _of(kind: type, registry: CollectorRegistry) -> Any:
    return lambda **named: kind(**named, registry=registry)
