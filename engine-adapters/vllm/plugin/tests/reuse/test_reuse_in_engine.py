"""Reuse in a real engine: the same answers if everything is recomputed, and never a wrong row."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from listening import listening
from receiver import Receiver
from reuse_model import BLOCK, ReusingEngine, make_model
from reuse_prompts import (
    DOCUMENTS,
    FIRST,
    OTHER,
    QUESTION,
    SYSTEM,
    difference,
    full_attention,
    prompt,
    said,
    tokens,
)
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.request import Request

from reprise_reuse.rows import row_choice
from reprise_vllm.reuse.scheduler.asked import Asked
from reprise_vllm.usage.prompt_tokens_details import report_in_usage


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    folder = tmp_path_factory.mktemp("engine")
    receiver = Receiver()
    os.environ["REPRISE_CALLBACK_URL"] = receiver.url
    reuse = {"host_bytes": 8 << 20, "rows_per_step": 96, "disk": str(folder / "disk"), "disk_bytes": 16 << 20}
    engine = ReusingEngine(make_model(folder / "model"), reuse)
    engine.receiver = receiver
    yield engine
    engine.core.shutdown()
    del os.environ["REPRISE_CALLBACK_URL"]
    receiver.stop()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()
    engine.reuse.refusal = None
    engine.worker._faults._score = 0


def test_the_engine_has_proved_that_it_can_reuse(engine):
    assert engine.reuse.is_ready and engine.reuse.refusal is None
    assert engine.side.offer == {"ratio": 0.15, "min_ratio": 0.0, "max_ratio": 1.0, "users": True, "question": True}


@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices over several steps"])
def test_computing_everything_again_is_full_attention(engine, monkeypatch, rows_per_step):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    engine.ask([FIRST])
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    expected = full_attention(engine, OTHER)
    assert engine.tokens_by_kind()["recomputed"] > 400
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_what_is_reused_is_counted_and_differs_from_full_attention(engine):
    engine.ask([FIRST])
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    counts = engine.tokens_by_kind()
    documents = sum(len(document) for document in DOCUMENTS)
    # the system prompt is vLLM's own hit; runs of fewer than 32 tokens at the cuts are computed
    assert counts["exact"] == SYSTEM and counts["recomputed"] == 0
    assert documents * 0.8 < counts["reused"] <= documents
    assert sum(counts.values()) == len(OTHER)
    assert difference(answer, full_attention(engine, OTHER)) > 1e-2


def test_the_proxy_is_told_what_is_exact_and_what_was_reused(engine):
    engine.receiver.wait_until(
        lambda: any("reuse" in body for kind, body in engine.receiver.posts if kind == "snapshot")
    )
    engine.ask([FIRST])
    engine.tokens_by_kind()
    asked = len(engine.receiver.events)
    engine.ask([OTHER])
    counts = engine.tokens_by_kind()
    engine.receiver.wait_until(lambda: any("reused_tokens" in event for event in engine.receiver.events[asked:]))
    event = next(event for event in engine.receiver.events[asked:] if "reused_tokens" in event)
    assert event["type"] == "stored"
    assert event["cached_tokens"] == SYSTEM
    assert (event["reused_tokens"], event["recomputed_tokens"]) == (counts["reused"], counts["recomputed"])
    # no longer prefix is reported when it ends; late reports about the previous request are filtered out
    of_it = [one for one in engine.receiver.events[asked:] if one.get("request_id") == event["request_id"]]
    assert all(one["cached_tokens"] <= SYSTEM for one in of_it)


@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices over several steps"])
@pytest.mark.parametrize(("system", "answered"), [(SYSTEM, 4), (5, 1)], ids=["a prefix", "no exact block"])
def test_an_answers_usage_has_what_was_reused_and_computed_again(engine, monkeypatch, rows_per_step, system, answered):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    report_in_usage()
    engine.ask([FIRST])
    engine.tokens_by_kind()
    asked = {"prompt_token_ids": [*tokens(0, system), *OTHER[SYSTEM:]], "cache_salt": "t"}
    (output,) = engine.llm.generate([asked], engine.sampling({"reuse": 0.9}, answered), use_tqdm=False)
    counts = engine.tokens_by_kind()
    assert counts["recomputed"] > 200
    figures = ("exact", "reused", "recomputed")
    assert output.num_cached_tokens.details == dict(
        zip(("cached_tokens", "reused_tokens", "recomputed_tokens"), (counts[kind] for kind in figures), strict=True)
    )


def test_the_default_ratio_holds_where_a_request_says_nothing(engine):
    engine.ask([FIRST])
    engine.tokens_by_kind()
    engine.ask([OTHER])
    counts = engine.tokens_by_kind()
    # the ratio is a share of the compute cost, so the share of tokens is somewhat lower
    assert 0.1 < counts["recomputed"] / (counts["reused"] + counts["recomputed"]) <= 0.15


def test_rows_are_chosen_by_the_question_that_a_request_names(engine, monkeypatch):
    engine.ask([FIRST])
    asked, load = [], Asked.load
    monkeypatch.setattr(Asked, "load", lambda one, claim, at: (asked.append(claim), load(one, claim, at))[1])
    engine.ask([OTHER], {"reuse": 0.15, "question": [2, 20]})
    assert [list(claim.question) for claim in asked] == [list(range(2, 20))]
    assert engine.counts()["tokens", "recomputed"] > 0


def test_approximate_rows_are_never_found_by_an_exact_request(engine):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    for ratio in (0, 0.15):
        engine.ask([OTHER], {"reuse": ratio})
        answer = engine.ask([OTHER], {"reuse": "off"})[0]
        assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_an_exact_prefix_that_left_the_pages_comes_back_exact(engine):
    engine.ask([FIRST])
    engine.core.scheduler.kv_cache_manager.reset_prefix_cache()
    engine.tokens_by_kind()
    answer = engine.ask([prompt([0, 1, 2, 3, 4, 5], question=3)], {"reuse": 0})[0]
    counts = engine.tokens_by_kind()
    assert counts["exact"] > 600 and counts["reused"] == 0
    expected = full_attention(engine, prompt([0, 1, 2, 3, 4, 5], question=3))
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices over several steps"])
def test_what_is_computed_before_approximate_rows_is_exact_for_others(engine, monkeypatch, rows_per_step):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    engine.ask([FIRST])
    fresh = [*tokens(0, SYSTEM), *tokens(900, 160)]
    engine.ask([[*fresh, *OTHER[SYSTEM:]]], {"reuse": 0})
    engine.tokens_by_kind()
    behind = [*fresh, *tokens(901, 200)]
    answer = engine.ask([behind], {"reuse": "off"})[0]
    assert engine.tokens_by_kind()["exact"] == len(fresh) // BLOCK * BLOCK
    assert difference(answer, full_attention(engine, behind)) < 1e-3


def test_tenants_share_nothing(engine):
    engine.ask([FIRST], salt="a")
    engine.tokens_by_kind()
    engine.ask([OTHER], {"reuse": 0}, salt="b")
    assert engine.tokens_by_kind() == {"cold": len(OTHER)}
    engine.ask([OTHER], {"reuse": 0}, salt="a")
    assert engine.tokens_by_kind()["reused"] > 400


def test_requests_that_run_together_are_not_mixed_up(engine):
    engine.ask([FIRST])
    orders = [np.random.default_rng(i).permutation(6).tolist() for i in range(8)]
    asked = [prompt(order, question=10 + i) for i, order in enumerate(orders)]
    expected = [said(full_attention(engine, one)) for one in asked]
    assert [said(answer) for answer in engine.ask(asked, {"reuse": 1.0})] == expected
    alone = [said(engine.ask([one], {"reuse": 0.2})[0]) for one in asked]
    assert [said(answer) for answer in engine.ask(asked, {"reuse": 0.2})] == alone


def test_all_loads_of_a_step_ask_in_one_forward_and_compute_in_another(engine, monkeypatch):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=4096))
    engine.ask([FIRST])
    worker, steps = engine.worker, []
    begin = worker.begin_step

    def begin_step(step: Any) -> None:
        steps.append(Counter(loads=len(step.loads)))
        begin(step)

    monkeypatch.setattr(worker, "begin_step", begin_step)
    for name in ("ask", "compute"):
        run = getattr(worker.forward, name)

        def counted(*given: Any, name: str = name, run: Any = run) -> None:
            steps[-1][name] += 1
            run(*given)

        monkeypatch.setattr(worker.forward, name, counted)
    asked = [prompt(np.random.default_rng(i).permutation(6).tolist(), question=70 + i) for i in range(4)]
    engine.ask(asked, {"reuse": 0.1}, tokens=1)
    assert sum(step["loads"] for step in steps) == 4 and max(step["loads"] for step in steps) > 1
    assert max(step["ask"] for step in steps) == max(step["compute"] for step in steps) == 1


def test_preempted_requests_go_on_with_the_right_rows(engine, monkeypatch):
    engine.ask([FIRST])
    asked = [prompt(np.random.default_rng(i).permutation(6).tolist(), question=20 + i) for i in range(5)]
    expected = [said(one) for one in (engine.ask([a], {"reuse": "off"}, "x", tokens=130)[0] for a in asked)]
    preempted = 0

    def preempt(*arguments: Any, **named: Any) -> None:
        nonlocal preempted
        preempted += 1
        stock(*arguments, **named)

    stock = engine.core.scheduler._preempt_request
    monkeypatch.setattr(engine.core.scheduler, "_preempt_request", preempt)
    answers = engine.ask(asked, {"reuse": 1.0}, tokens=130)
    assert preempted > 0
    assert [said(answer) for answer in answers] == expected


def test_a_request_that_is_aborted_while_its_rows_are_computed_leaves_nothing_behind(engine):
    engine.ask([FIRST])
    added = engine.llm.llm_engine
    added.add_request("gone", {"prompt_token_ids": OTHER, "cache_salt": "t"}, engine.sampling({"reuse": 1.0}))
    added.step()
    assert engine.worker._late
    added.abort_request(["gone"])
    for _ in range(20):
        added.step()
    assert not engine.worker._late and not engine.reuse._asked
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert said(answer) == said(full_attention(engine, OTHER))


def lose_rows(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.worker.store.owners[:] = -1


def change_tokens(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.worker.store.tokens[:] += 1


def fail_at_choosing(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_choice, "choose", lambda *arguments: 1 / 0)


def fail_at_computing(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.worker.forward, "compute", lambda *arguments: 1 / 0)


@pytest.mark.parametrize("fault", [lose_rows, change_tokens, fail_at_choosing, fail_at_computing])
@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices"])
def test_whatever_fails_the_answer_is_that_of_full_attention(engine, monkeypatch, fault, rows_per_step):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    fault(engine, monkeypatch)
    answer = engine.ask([OTHER], {"reuse": 0.4})[0]
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_faults_that_keep_coming_end_reuse_with_one_line_and_are_counted(engine, monkeypatch, caplog):
    with monkeypatch.context() as faulty, listening(caplog):
        for number in range(6):
            engine.ask([prompt([0, 1, 2, 3, 4, 5], question=30 + number)], {"reuse": "off"}, tokens=1)
            fail_at_computing(engine, faulty)
            engine.ask([prompt([5, 3, 1, 4, 2, 0], question=40 + number)], {"reuse": 0.5}, tokens=1)
            faulty.undo()
    counts = engine.counts()
    assert {what: count for what, count in counts.items() if what[0] == "faults"} == {("faults", "computing"): 3}
    assert engine.reuse.refusal == "computing failed again and again"
    assert caplog.text.count("computing failed again and again") == 1
    assert counts["stock", "refused"] >= 1


def test_what_must_be_computed_unexpectedly_stays_within_what_may_be_computed_beside_a_step(engine, monkeypatch):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=4096))
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    computed, compute = [], engine.worker.forward.compute
    monkeypatch.setattr(
        engine.worker.forward, "compute", lambda t, rows, *more: (computed.append(len(rows)), compute(t, rows, *more))
    )
    lose_rows(engine, monkeypatch)
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    assert sum(computed) <= 96
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


@pytest.mark.parametrize("fault", [lose_rows, fail_at_computing])
@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices"])
def test_what_was_claimed_and_could_not_be_reused_is_not_counted_as_reused(engine, monkeypatch, fault, rows_per_step):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    report_in_usage()
    engine.ask([FIRST])
    engine.tokens_by_kind()
    fault(engine, monkeypatch)
    asked = {"prompt_token_ids": OTHER, "cache_salt": "t"}
    (output,) = engine.llm.generate([asked], engine.sampling({"reuse": 0.4}), use_tqdm=False)
    counts = engine.tokens_by_kind()
    # the system prompt is vLLM's own hit
    assert counts == {"exact": SYSTEM, "cold": len(OTHER) - SYSTEM}
    if fault is fail_at_computing:
        assert output.num_cached_tokens.details == {"cached_tokens": SYSTEM}


def test_a_fault_in_claiming_ends_reuse_and_nothing_else(engine, monkeypatch):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    monkeypatch.setattr(engine.reuse._catalogue, "find", lambda *arguments: 1 / 0)
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    assert said(answer) == said(expected)
    assert engine.reuse.refusal == "a fault in claiming" and engine.side.offer is None
    engine.reuse.refusal = None


def test_a_fault_of_the_schedulers_side_is_counted_said_once_and_told_to_the_proxy(engine, monkeypatch, caplog):
    def told() -> list[Any]:
        return [body["reuse"] for kind, body in engine.receiver.posts if kind == "snapshot" and "reuse" in body]

    engine.ask([FIRST])
    engine.receiver.wait_until(lambda: told()[-1:] == [engine.side.offer])
    monkeypatch.setattr(engine.reuse, "_share", lambda: 1 / 0)
    engine.counts()
    with listening(caplog):
        engine.ask([OTHER], {"reuse": 0}, tokens=8)
    assert engine.counts()["faults", "storing"] > 1
    assert [one.getMessage().split(": ")[1] for one in caplog.records if one.exc_info] == [
        "nothing is reused any more because of a fault in storing"
    ]
    engine.receiver.wait_until(lambda: told()[-1] is None)


def fail(*_: Any) -> Any:
    raise RuntimeError("as if something were wrong")


def fail_to_note_a_load(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.reuse._catalogue, "use", fail)


def fail_to_queue_writes(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.worker.tiers, "write", fail)


def fail_to_forget(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.reuse._catalogue, "clear", fail)


@pytest.mark.parametrize(
    ("fault", "what"),
    [(fail_to_note_a_load, "allocating"), (fail_to_queue_writes, "storing"), (fail_to_forget, "resetting")],
)
def test_whatever_fails_the_engine_answers(engine, monkeypatch, fault, what):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    engine.counts()
    fault(engine, monkeypatch)
    assert said(engine.ask([OTHER], {"reuse": 1.0})[0]) == said(expected)
    assert engine.llm.reset_prefix_cache(reset_connector=True)
    assert engine.counts()["faults", what] > 0


def test_a_fault_in_storing_loses_no_load_that_was_promised(engine, monkeypatch):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    monkeypatch.setattr(engine.reuse, "_store", lambda *arguments: 1 / 0)
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert engine.reuse.refusal == "a fault in storing"
    engine.reuse.refusal = None
    assert said(answer) == said(expected)


def test_a_fault_in_storing_lets_no_load_go_on_whose_blocks_were_given_back(engine, monkeypatch):
    monkeypatch.setattr(engine.reuse, "_share", fail)
    engine.reuse._step.aborted.append("given back")
    engine.reuse._step.is_reset = True
    step = engine.reuse.end_step(SchedulerOutput.make_empty())
    engine.reuse.refusal = None
    assert "given back" in step.aborted and step.is_reset


@pytest.mark.parametrize(
    ("options", "wish", "reason"),
    [
        ({}, {"reuse": "off"}, "off"),
        ({"prompt_logprobs": 1}, None, "prompt_logprobs"),
        ({}, {"reuse": 2}, "malformed_wish"),
        ({}, {"reuse": "much"}, "malformed_wish"),
        ({}, "reuse", "malformed_wish"),
        ({}, {"spans": [[3]]}, "malformed_wish"),
    ],
)
def test_requests_that_are_served_as_stock_are_counted_by_their_reason(engine, options, wish, reason):
    engine.ask([FIRST])
    engine.counts()
    given = {"prompt_token_ids": OTHER, "cache_salt": "t"}
    engine.llm.generate([given], engine.sampling(wish, **options), use_tqdm=False)
    counts = engine.counts()
    assert counts["stock", reason] == 1 and ("tokens", "reused") not in counts


@pytest.mark.parametrize("side", ["do_remote_decode", "do_remote_prefill"])
def test_of_a_request_that_two_engines_share_nothing_is_reused_and_nothing_stored(engine, side):
    engine.ask([FIRST])
    engine.counts()
    wish = engine.sampling({"reuse": 0})
    wish.extra_args["kv_transfer_params"][side] = True
    engine.llm.generate([{"prompt_token_ids": OTHER, "cache_salt": "t"}], wish, use_tqdm=False)
    counts = engine.counts()
    assert counts["stock", "transferred"] == 1 and counts["tokens", "reused"] == 0
    assert counts["segments", "stored"] == 0


def test_a_segment_is_averaged_over_the_contexts_in_which_it_is_computed(engine, monkeypatch):
    monkeypatch.setattr(engine.reuse._storing, "_rows_per_step", 4096)
    for order in ([0, 1, 2], [2, 1, 3], [3, 1, 0], [4, 1, 5]):
        engine.ask([prompt(order)], {"reuse": "off"})
    averaged = max(engine.reuse._catalogue._segments.values(), key=lambda one: len(one.prefixes))
    assert len(averaged.prefixes) >= 3
    assert engine.worker.store.spread(averaged.slots).max() > 0
    engine.tokens_by_kind()
    answer = engine.ask([prompt([5, 1, 2], question=4)], {"reuse": 1.0})[0]
    assert said(answer) == said(full_attention(engine, prompt([5, 1, 2], question=4)))


def test_a_document_that_is_kept_behind_chosen_neighbours_stays_as_it_is_when_it_is_a_neighbour(engine):
    for *others, own in ([1, 2, 0], [0, 2, 1], [0, 1, 2]):
        before = len(prompt(others)) - QUESTION
        engine.ask([prompt([*others, own], question=own)], {"reuse": "off", "kept_from": before})
    held = list(engine.reuse._catalogue._segments.values())
    assert sorted(one.position for one in held) == sorted(
        len(prompt(others)) - QUESTION for others in ([1, 2], [0, 2], [0, 1])
    )
    assert all(len(one.prefixes) == 1 for one in held)


def test_no_more_rows_are_averaged_in_a_step_than_may_be_computed_beside_it(engine, monkeypatch):
    engine.ask([FIRST])
    averaged = []

    def saving(step: Any) -> None:
        averaged.append([one.end - one.start for save in step.saves for one in save.pieces if one.is_average])
        save(step)

    save = engine.worker.save
    monkeypatch.setattr(engine.worker, "save", saving)
    for order in ([5, 4, 3, 2, 1, 0], [1, 3, 0, 2, 4, 5]):
        engine.ask([prompt(order)], {"reuse": "off"})
    assert sum(map(len, averaged)) >= 2
    # one segment may be longer than that
    assert all(len(of_step) <= 1 or sum(of_step) <= 96 for of_step in averaged)


def test_segments_that_left_host_memory_come_back_from_disk(engine):
    many = [tokens(5000 + i, 200) for i in range(40)]
    asked = [[*tokens(0, SYSTEM), *document, *tokens(1, QUESTION)] for document in many]
    for one in asked:
        engine.ask([one])
    catalogue = engine.reuse._catalogue
    left = [one for one in catalogue._segments.values() if one.slots is None]
    assert left and catalogue.host_tokens <= catalogue._slots.capacity
    first = next(i for i, one in enumerate(many) if any(np.array_equal(one[: len(s)], s.tokens) for s in left))
    moved = [*tokens(0, SYSTEM), *tokens(8, 77), *many[first], *tokens(2, QUESTION)]
    engine.tokens_by_kind()
    answer = engine.ask([moved], {"reuse": 1.0})[0]
    assert engine.tokens_by_kind()["recomputed"] >= 64
    assert said(answer) == said(full_attention(engine, moved))


@pytest.mark.parametrize("is_reset", [True, False])
def test_what_was_begun_before_a_reset_is_not_stored_for_those_after_it(engine, is_reset):
    added = engine.llm.llm_engine
    added.add_request("long", {"prompt_token_ids": OTHER, "cache_salt": "t"}, engine.sampling())
    added.step()
    (asked,) = engine.reuse._asked.values()
    assert 0 < asked.request.num_computed_tokens < len(OTHER)
    # vLLM itself keeps what a running request holds
    assert not is_reset or not engine.llm.reset_prefix_cache(reset_connector=True)
    while added.has_unfinished_requests():
        added.step()
    assert (len(engine.reuse._catalogue) == 0) == is_reset
    engine.ask([FIRST])
    assert len(engine.reuse._catalogue) > 0


def test_what_became_less_exact_while_a_request_was_preempted_is_private_from_there(engine):
    engine.ask([FIRST])
    assert engine.llm.reset_prefix_cache()
    request = Request("twice", FIRST, engine.sampling({"reuse": 0}), None, block_hasher=hasher(), cache_salt="t")
    public = list(request.block_hashes)
    engine.reuse.begin(request)
    tokens_claimed, _ = engine.reuse.claim(request, 0)
    assert request.block_hashes == public and tokens_claimed > 600
    # meanwhile the first document is averaged, so nothing after the system prompt is exact any more
    engine.ask([prompt([2, 0, 4])], {"reuse": "off"})
    engine.reuse.claim(request, 0)
    same = [ours == theirs for ours, theirs in zip(request.block_hashes, public, strict=True)]
    exact = engine.reuse._asked["twice"].private_from // BLOCK
    assert exact < len(public) and same == [True] * exact + [False] * (len(public) - exact)
    engine.reuse.finished(request)


def hasher() -> Any:
    from vllm.utils.hashing import sha256
    from vllm.v1.core.kv_cache_utils import get_request_block_hasher

    return get_request_block_hasher(BLOCK, sha256)


def after_reused_turn(engine: ReusingEngine) -> list[int]:
    """Has a prompt with reused documents answered. Returns the next turn of its conversation."""
    engine.ask([FIRST])
    answer = engine.ask([OTHER], {"reuse": 0.2}, tokens=40)[0]
    return [*OTHER, *said(answer), *tokens(77, QUESTION)]


def test_a_conversation_goes_on_from_its_approximate_rows_without_computing_them_again(engine):
    after = after_reused_turn(engine)
    engine.tokens_by_kind()
    engine.ask([after], {"reuse": 0.2})
    counts = engine.tokens_by_kind()
    assert counts["recomputed"] == 0 and counts["cold"] <= QUESTION + 2 * BLOCK
    # nothing after the system prompt counts as exact
    assert counts["exact"] == SYSTEM and sum(counts.values()) == len(after)
    # the turn after that one continues from it as well
    answer = engine.ask([after], {"reuse": 0.2}, tokens=40)[0]
    third = [*after, *said(answer), *tokens(78, QUESTION)]
    engine.tokens_by_kind()
    engine.ask([third], {"reuse": 0.2})
    counts = engine.tokens_by_kind()
    assert (counts["exact"], counts["recomputed"]) == (SYSTEM, 0) and counts["cold"] <= QUESTION + 2 * BLOCK


def test_a_turn_goes_on_with_the_very_rows_of_the_one_before(engine):
    engine.ask([FIRST])
    in_one_go = said(engine.ask([OTHER], {"reuse": 0.2}, tokens=80)[0])
    engine.reset()
    engine.ask([FIRST])
    begun = said(engine.ask([OTHER], {"reuse": 0.2}, tokens=40)[0])
    engine.tokens_by_kind()
    ended = said(engine.ask([[*OTHER, *begun]], {"reuse": 0.2}, tokens=40)[0])
    assert engine.tokens_by_kind()["reused"] > 600
    assert begun + ended == in_one_go


def test_another_question_about_the_same_documents_has_its_own_rows_chosen(engine):
    after_reused_turn(engine)
    engine.tokens_by_kind()
    other = [*OTHER[:-QUESTION], *tokens(79, 2 * QUESTION)]
    engine.ask([other], {"reuse": 0.2})
    assert engine.tokens_by_kind()["recomputed"] > 90


def test_a_question_that_fills_no_block_is_another_question(engine):
    # its first turn ends a few tokens after a block
    first = OTHER[: len(OTHER) - len(OTHER) % BLOCK - BLOCK + 5]
    engine.ask([FIRST])
    engine.ask([first], {"reuse": 0.2}, tokens=1)
    engine.tokens_by_kind()
    engine.ask([[*first[:-5], *tokens(80, 6)]], {"reuse": 0.2})
    assert engine.tokens_by_kind()["recomputed"] > 90


def test_exact_pages_are_found_before_those_of_an_approximate_turn(engine):
    after_reused_turn(engine)
    expected = full_attention(engine, OTHER)
    engine.ask([OTHER], {"reuse": "off"})
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0.2})[0]
    counts = engine.tokens_by_kind()
    assert counts["reused"] == 0 and counts["exact"] >= len(OTHER) - BLOCK
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_what_was_all_computed_again_is_never_counted_as_reused(engine):
    engine.ask([FIRST])
    for wish in ({"reuse": 1}, {"reuse": 1}, {"reuse": 1.0}):
        engine.tokens_by_kind()
        engine.ask([OTHER], wish, tokens=40)
        assert engine.tokens_by_kind()["reused"] == 0


@pytest.mark.parametrize(
    ("wish", "salt"),
    [({"reuse": "off"}, "t"), ({"reuse": 1.0}, "t"), ({"reuse": 0.5}, "t"), ({"reuse": 0.2}, "another tenant")],
    ids=["reuse is off", "all is to be computed again", "more is to be computed again", "another tenant"],
)
def test_approximate_turns_are_not_for_those_who_ask_for_more(engine, wish, salt):
    after = after_reused_turn(engine)
    expected = full_attention(engine, after)
    engine.tokens_by_kind()
    answer = engine.ask([after], wish, salt=salt)[0]
    counts = engine.tokens_by_kind()
    assert counts["reused"] + counts["recomputed"] <= len(OTHER) and counts["cold"] >= QUESTION
    if wish["reuse"] in ("off", 1.0) or salt != "t":
        assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_a_turn_whose_rows_have_left_is_computed_exactly_and_found_by_others(engine):
    after = after_reused_turn(engine)
    engine.reuse._catalogue.clear()
    assert engine.core.scheduler.kv_cache_manager.reset_prefix_cache()
    engine.tokens_by_kind()
    answer = engine.ask([after], {"reuse": 0.2})[0]
    assert engine.tokens_by_kind() == {"cold": len(after)}
    expected = full_attention(engine, after)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3
    engine.ask([after], {"reuse": "off"})
    assert engine.tokens_by_kind()["exact"] > len(after) - 2 * BLOCK
