"""Rows that go to host memory and come from there beside the engine's forwards, as on a GPU."""

import random
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, full_attention, said, some_prompts, tokens
from streams_double import EventDouble, StreamsDouble, on_streams

from reprise_reuse.costs import EVEN
from reprise_reuse.device import SideStream
from reprise_vllm.reuse.worker.late_loads import LateLoads

ROW = 2 * 2 * 32 * 4 + 20


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    """Its model has one layer, so that wrong rows show in every answer."""
    model = make_model(tmp_path_factory.mktemp("one-layer"), layers=1)
    engine = ReusingEngine(model, {"host_bytes": 2000 * ROW, "rows_per_step": 96})
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def as_on_a_gpu(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.reset()
    reuse = engine.reuse
    monkeypatch.setattr(reuse, "_limits", reuse._limits._replace(copies_beside=True))
    monkeypatch.setattr(reuse._pages, "_looks_ahead", 24)
    # 20 rows are copied while a token is computed
    monkeypatch.setattr(reuse, "costs", replace(EVEN, host_row=0.05))


def ask_all_kinds(engine: ReusingEngine, seed: int) -> None:
    """Prompts of a few documents run together, are preempted and aborted, and evict each other from both memories."""
    chance = random.Random(seed)
    documents = [tokens(700 + number, chance.randint(40, 260)) for number in range(14)]
    for batch in range(10):
        asked = some_prompts(chance, documents, seed + 9 * batch)
        expected = [full_attention(engine, one) for one in asked]
        for number, one in enumerate(asked[:2]):
            abort_in_the_middle(engine, one, f"gone {batch} {number}", chance)
        answers = engine.ask(asked, {"reuse": chance.choice([0, 0, 0.3])}, tokens=chance.choice([4, 60]))
        for answer, right in zip(answers, expected, strict=True):
            assert said(answer)[:4] == said(right)


def abort_in_the_middle(engine: ReusingEngine, prompt: list[int], name: str, chance: random.Random) -> None:
    added = engine.llm.llm_engine
    added.add_request(name, {"prompt_token_ids": prompt, "cache_salt": "t"}, engine.sampling({"reuse": 0.3}))
    for _ in range(chance.randint(0, 3)):
        added.step()
    added.abort_request([name])


@pytest.mark.parametrize("seed", range(3))
def test_copies_meet_nothing_that_the_device_does_meanwhile(engine, monkeypatch, seed):
    streams = on_streams(engine, monkeypatch, seed)
    ask_all_kinds(engine, seed)
    counts = engine.counts()
    assert engine.reuse.refusal is None and counts["segments", "lost"] == 0
    assert not streams.races, streams.races
    assert streams.rows["beside"] > 0 and streams.rows["ahead"] > 0 and counts["loads", "late"] > 0


def flood(engine: ReusingEngine, seed: int, count: int = 3600) -> None:
    """Has about `count` tokens computed that no prompt repeats; the pages hold 3,200."""
    for number in range(count // 400):
        engine.ask([tokens(seed + number, 400)], {"reuse": 0}, salt="flood", tokens=1)


def test_rows_that_leave_their_pages_have_been_copied_before_each_once(engine, monkeypatch):
    flood(engine, 10_000)
    streams = on_streams(engine, monkeypatch)
    flood(engine, 20_000)
    ahead, in_the_way = streams.rows["ahead"], streams.rows["in the way"]
    assert ahead > 9 * in_the_way
    # keys and values of each token
    assert 2 * 3200 < ahead + in_the_way <= 2 * (3600 + 24 * 32)


def answer_another(engine: ReusingEngine) -> None:
    """Has the engine begin another answer, which sorts before those that are asked for."""
    added = engine.llm.llm_engine
    added.add_request("-1", {"prompt_token_ids": tokens(5, 40), "cache_salt": "x"}, engine.sampling(tokens=90))
    for _ in range(3):
        added.step()


@pytest.mark.parametrize("way", ["before", "beside"])
def test_rows_of_host_memory_come_once_and_beside_the_steps_of_others_if_they_are_many(engine, monkeypatch, way):
    engine.ask([FIRST])
    flood(engine, 10_000)
    streams = on_streams(engine, monkeypatch)
    if way == "beside":
        answer_another(engine)
    engine.counts()
    answer = engine.ask([OTHER], {"reuse": 0})[-1]
    counts = engine.counts()
    assert counts["tokens", "reused"] > 400
    assert {one: streams.rows[one] for one in ("before", "beside")} == {
        "before": 0, "beside": 0, way: 2 * (counts["tokens", "reused"] + counts["tokens", "exact"])
    }  # fmt: skip
    assert counts["loads", "late"] == (way == "beside") and not streams.races
    assert said(answer) == said(full_attention(engine, OTHER))


def test_few_rows_of_host_memory_wait_for_no_step(engine, monkeypatch):
    monkeypatch.setattr(engine.reuse, "costs", replace(EVEN, host_row=0.0005))
    engine.ask([FIRST])
    flood(engine, 10_000)
    answer_another(engine)
    engine.ask([OTHER], {"reuse": 0})
    assert engine.counts()["loads", "late"] == 0


def test_copies_of_pages_that_held_something_else_are_not_used(engine, monkeypatch):
    flood(engine, 10_000)
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    engine.worker.stored._stored_keys += 1
    streams = on_streams(engine, monkeypatch)
    flood(engine, 20_000)
    assert streams.rows["ahead"] > 0
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    assert said(answer) == said(expected)
    engine.ask([[1, 2, 3]])
    counts = engine.counts()
    assert counts["tokens", "reused"] == 0 and engine.reuse.counts["segments", "lost"] > 0


def test_a_load_that_is_given_up_and_made_anew_is_complete_and_waits_for_the_first_one_s_copies(engine, monkeypatch):
    expected = full_attention(engine, OTHER)
    engine.ask([FIRST])
    flood(engine, 10_000)
    streams = on_streams(engine, monkeypatch)
    answer_another(engine)
    query = EventDouble.query
    monkeypatch.setattr(EventDouble, "query", lambda event: False)
    added = engine.llm.llm_engine
    added.add_request("late", {"prompt_token_ids": OTHER, "cache_salt": "t"}, engine.sampling({"reuse": 0.3}))
    added.step()
    assert len(engine.worker._late) == 1
    # vLLM takes the pages back at once
    assert engine.core.reset_prefix_cache(reset_running_requests=True)
    monkeypatch.setattr(EventDouble, "query", query)
    answers = {}
    for _ in range(200):
        answers |= {output.request_id: output.outputs[0] for output in added.step() if output.finished}
    assert said(answers["late"]) == said(expected)
    counts = engine.counts()
    assert counts["loads", "late"] == 2 and counts["load_rows", "late"] > 0 and not streams.races


def test_the_oldest_load_that_is_copied_goes_on_and_of_several_ranks_the_same_one_on_all():
    streams = StreamsDouble(0)
    copying, copied = EventDouble(streams, {1: 1}), EventDouble(streams, {})
    copying.query, copied.query = lambda: False, lambda: True
    loads = [SimpleNamespace(copied=copying), SimpleNamespace(copied=copied), SimpleNamespace(copied=None)]
    waited = []
    side = SimpleNamespace(wait=waited.append)
    for ranks, expected in ((1, loads[1]), (2, loads[0])):
        late = LateLoads(side, ranks)
        for one in loads:
            late.add(one)
        assert late.next() is expected and waited[-1] is expected.copied
        late.end(loads[0])
        assert waited[-1] is copying and len(late) == 2


def wait_for_nothing(*_: Any) -> None:
    pass


def begin_at_once(streams: StreamsDouble, side: SideStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side, "mark", lambda: EventDouble(streams, {}))


def loads_do_not_wait_for_the_device(streams, worker, monkeypatch):
    begin_at_once(streams, worker._late._side, monkeypatch)


def copies_do_not_wait_for_the_device(streams, worker, monkeypatch):
    begin_at_once(streams, worker._moving._side, monkeypatch)


def nobody_waits_for_loads(streams, worker, monkeypatch):
    monkeypatch.setattr(worker._late._side, "wait", wait_for_nothing)
    monkeypatch.setattr(EventDouble, "query", lambda event: True)


def nobody_waits_for_copies(streams, worker, monkeypatch):
    monkeypatch.setattr(worker._moving._side, "wait", wait_for_nothing)


def aborted_loads_give_pages_back_at_once(streams, worker, monkeypatch):
    monkeypatch.setattr(LateLoads, "end", lambda late, opened: late._open.remove(opened))


def readers_of_host_memory_wait_for_nobody(streams, worker, monkeypatch):
    for rows in (worker.store._keys, worker.store._values):
        monkeypatch.setattr(rows.uses, "reading", lambda _: nullcontext())


@pytest.mark.parametrize(
    "fault",
    [
        loads_do_not_wait_for_the_device, copies_do_not_wait_for_the_device, nobody_waits_for_loads,
        nobody_waits_for_copies, aborted_loads_give_pages_back_at_once, readers_of_host_memory_wait_for_nobody,
    ],
)  # fmt: skip
def test_whoever_does_not_wait_is_found_out(engine, monkeypatch, fault):
    streams = on_streams(engine, monkeypatch)
    fault(streams, engine.worker, monkeypatch)
    for seed in range(5):
        ask_all_kinds(engine, seed)
        if streams.races:
            return
    raise AssertionError("nobody has noticed")
