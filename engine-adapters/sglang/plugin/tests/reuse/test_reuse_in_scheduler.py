"""Reuse in SGLang's own scheduler, with its own model and pools, on the CPU."""

import random
from dataclasses import replace

import pytest
import torch
from reuse_prompts import Documents
from reusing_scheduler import ReusingScheduler
from sglang.srt.managers import scheduler as schedulers
from sglang.srt.managers.schedule_batch import Req

from reprise_reuse.start.prove_reuse import NotProvenError, prove_reuse
from reprise_sglang.reuse import reuse_worker
from reprise_sglang.reuse.usage import asked_of, with_figures

pytestmark = pytest.mark.scheduler

OFF = {"reuse": "off"}
ALL_AGAIN = {"reuse": 1}
SOME_AGAIN = {"reuse": 0.15}


def apart(engine: ReusingScheduler, one: Req, other: Req) -> float:
    return float((engine.first_logits[one.rid] - engine.first_logits[other.rid]).abs().max())


def stock_and_seen(engine: ReusingScheduler, documents: Documents, *order: int, tokens: int = 8) -> Req:
    """Has the documents seen in their own order, and returns the answer of stock to another order; no prefix stays."""
    stock = engine.ask(documents.prompt(*order), OFF, tokens)
    engine.flush()
    engine.ask(documents.prompt())
    engine.forget_prefixes()
    return stock


@pytest.mark.parametrize("tokens", [80, 160], ids=["one prefill", "in chunks"])
def test_all_computed_again_is_what_stock_answers(fresh: ReusingScheduler, tokens: int) -> None:
    documents = Documents(2, tokens=tokens)
    stock = stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    again = fresh.ask(documents.prompt(3, 1, 4, 0, 2), ALL_AGAIN)
    asked = asked_of(again)
    assert asked.recomputed >= 4 * tokens - 32 and asked.reused == 0
    assert fresh.steps[again.rid] == fresh.steps[stock.rid] == (1 if tokens == 80 else 2)
    assert list(again.output_ids) == list(stock.output_ids)
    assert apart(fresh, again, stock) < 1e-5


@pytest.mark.parametrize("tokens", [80, 160], ids=["one prefill", "in chunks"])
def test_what_is_reused_is_reported_and_stays_out_of_the_cache(fresh: ReusingScheduler, tokens: int) -> None:
    documents = Documents(3, tokens=tokens)
    stock = stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    some = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN)
    asked = asked_of(some)
    assert asked.reused > 3 * tokens and 0 < asked.recomputed < asked.reused
    # the head is where it was, after the same tokens
    assert some.cached_tokens == asked.exact == 40
    assert with_figures(None, None, some) == {
        "device": 0, "host": 0, "reused_tokens": asked.reused, "recomputed_tokens": asked.recomputed,
    }  # fmt: skip
    assert apart(fresh, some, stock) > 1e-5
    exact = fresh.ask(documents.prompt(3, 1, 4, 0, 2), OFF)
    # whole pages of the head
    assert exact.cached_tokens == 32
    assert apart(fresh, exact, stock) < 1e-5
    assert fresh.reuser.counts["tokens", "reused"] == asked.reused


def test_an_exact_prefix_comes_back_from_host_memory_as_it_was(fresh: ReusingScheduler) -> None:
    documents = Documents(4)
    stock = fresh.ask(documents.prompt(), OFF)
    fresh.forget_prefixes()
    again = fresh.ask(documents.prompt(question=documents.tokens(36)), SOME_AGAIN)
    assert again.cached_tokens >= 400 and asked_of(again).reused == 0
    assert fresh.ask(documents.prompt(), OFF).cached_tokens >= 400
    assert apart(fresh, fresh.ask(documents.prompt(), OFF), stock) < 1e-5


def test_a_request_is_continued_where_it_was_retracted(
    fresh: ReusingScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = Documents(5)
    orders = [random.Random(seed).sample(range(5), 5) for seed in range(4)]
    prompts = [documents.prompt(*order) for order in orders]
    stock = [list(fresh.ask(prompt, OFF, 24).output_ids) for prompt in prompts]
    fresh.flush()
    fresh.ask(documents.prompt())
    fresh.forget_prefixes()
    # as if the cache were full
    monkeypatch.setattr(schedulers, "TEST_RETRACT", True)
    monkeypatch.setattr(schedulers, "TEST_RETRACT_INTERVAL", 7)
    sent = [fresh.send(prompt, ALL_AGAIN, 24) for prompt in prompts]
    fresh.run()
    assert sum(one.retraction_count for one in sent) > 0
    assert [list(one.output_ids) for one in sent] == stock
    fresh.flush()
    fresh.ask(documents.prompt())
    fresh.forget_prefixes()
    some = [fresh.send(prompt, SOME_AGAIN, 24) for prompt in prompts]
    fresh.run()
    assert sum(one.retraction_count for one in some) > 0
    assert any(asked_of(one).reused > 0 for one in some) and all(one.finished() for one in some)
    monkeypatch.undo()
    assert [list(fresh.ask(prompt, OFF, 24).output_ids) for prompt in prompts] == stock


@pytest.mark.parametrize("steps", [0, 1, 2, 4], ids=["waiting", "between chunks", "prefilled", "answering"])
def test_aborted_requests_leave_nothing_behind(fresh: ReusingScheduler, steps: int) -> None:
    documents = Documents(6, tokens=160)
    stock = stock_and_seen(fresh, documents, 4, 3, 2, 1, 0)
    request = fresh.send(documents.prompt(4, 3, 2, 1, 0), SOME_AGAIN, 50)
    for _ in range(steps):
        fresh.step()
    fresh.abort(request)
    fresh.run()
    assert fresh.is_balanced()
    # neither its own slots nor what it has stored say anything else than stock
    for wish in (ALL_AGAIN, OFF):
        assert apart(fresh, fresh.ask(documents.prompt(4, 3, 2, 1, 0), wish, 1), stock) < 1e-5


def test_many_requests_at_a_time_are_not_mixed_up(fresh: ReusingScheduler) -> None:
    """Every answer equals that of stock, while the store and the cache are full and requests are retracted."""
    worlds = [Documents(20 + seed, count=4, tokens=64) for seed in range(12)]
    chance = random.Random(7)
    requests = [(at, chance.sample(range(4), 4)) for at in (chance.randrange(12) for _ in range(48))]
    prompts = [worlds[at].prompt(*order, question=worlds[at].tokens(33)) for at, order in requests]
    stock = [list(fresh.ask(prompt, OFF, 4).output_ids) for prompt in prompts]
    fresh.flush()
    sent = []
    for prompt in prompts:
        sent.append(fresh.send(prompt, ALL_AGAIN, 4))
        fresh.run(until=lambda: sum(not one.finished() for one in sent) < 12)
    fresh.run()
    assert [list(one.output_ids) for one in sent] == stock
    assert fresh.reuser.counts["tokens", "recomputed"] > 2000
    assert fresh.reuser.counts["segments", "evicted"] > 0


def test_tenants_and_users_share_nothing(fresh: ReusingScheduler) -> None:
    documents = Documents(8)
    fresh.ask(documents.prompt(), salt="a")
    assert asked_of(fresh.ask(documents.prompt(4, 3, 2, 1, 0), salt="b")).reused == 0
    fresh.ask(documents.prompt(), {"user": "mallory"}, salt="c")
    assert asked_of(fresh.ask(documents.prompt(4, 3, 2, 1, 0), {"user": "alice"}, salt="c")).reused == 0
    assert asked_of(fresh.ask(documents.prompt(4, 3, 1, 2, 0), {"user": "mallory"}, salt="c")).reused > 0


def test_a_request_that_lost_its_salt_reuses_nothing(fresh: ReusingScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh.reuser, "needs_salts", True)
    documents = Documents(14)
    fresh.ask(documents.prompt())
    assert asked_of(fresh.ask(documents.prompt(4, 3, 2, 1, 0))).stock_because == "no_salt"
    fresh.ask(documents.prompt(), salt="a")
    assert asked_of(fresh.ask(documents.prompt(4, 3, 2, 1, 0), salt="a")).reused > 0


def broken(*_: object) -> None:
    raise RuntimeError("broken")


@pytest.mark.parametrize("part", ["filling", "choice", "rows of its last layer"])
def test_a_fault_costs_reuse_and_three_end_it(
    fresh: ReusingScheduler, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    documents = Documents(9)
    stock = stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    worker = fresh.reuser._worker
    if part == "filling":
        monkeypatch.setattr(worker.stored, "fill", broken)
    elif part == "choice":
        monkeypatch.setattr(reuse_worker, "choose_rows", broken)
    else:
        # by then its slots hold stored rows, some of them computed again
        monkeypatch.setattr(worker.forward, "_pages", [*worker.forward._pages[:-1], None])
    told: list[object] = []
    fresh.reuser.report_to(told.append)
    for fault in range(3):
        answer = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN)
        assert list(answer.output_ids) == list(stock.output_ids) and asked_of(answer).reused == 0
        assert (fresh.reuser.refusal is None) == (fault < 2)
        fresh.forget_prefixes()
    assert "loading failed again and again" in caplog.text
    assert told[0]["reuse"]["ratio"] == 0.15 and told[-1] == {}


def test_what_could_not_be_stored_whole_is_not_used(fresh: ReusingScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents(15)
    stock = fresh.ask(documents.prompt(3, 1, 4, 0, 2), OFF)
    fresh.flush()
    # some rows are in host memory when it fails
    put, calls = fresh.reuser._worker.store.put, []

    def put_once(*given: object) -> None:
        if calls:
            broken()
        calls.append(put(*given))

    with monkeypatch.context() as patch:
        patch.setattr(fresh.reuser._worker.store, "put", put_once)
        fresh.ask(documents.prompt())
    fresh.forget_prefixes()
    answer = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN)
    assert asked_of(answer).reused == 0 and fresh.reuser.counts["faults", "storing"] == 1
    assert list(answer.output_ids) == list(stock.output_ids)


def test_a_fault_outside_of_loads_ends_reuse_and_not_the_engine(
    fresh: ReusingScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = Documents(14)
    stock = stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    monkeypatch.setattr(fresh.reuser._catalogue, "find", None)
    answer = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN)
    assert list(answer.output_ids) == list(stock.output_ids)
    assert fresh.reuser.refusal is not None


def test_rows_that_are_no_longer_there_are_computed(fresh: ReusingScheduler) -> None:
    documents = Documents(10)
    stock = stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    fresh.reuser._worker.store.owners.fill_(-1)
    answer = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN)
    assert list(answer.output_ids) == list(stock.output_ids)
    assert fresh.reuser.counts["segments", "lost"] > 0


def test_log_probabilities_of_answers_are_given_and_those_of_prompts_are_stocks(fresh: ReusingScheduler) -> None:
    documents = Documents(11)
    stock_and_seen(fresh, documents, 3, 1, 4, 0, 2)
    answer = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN, return_logprob=True)
    assert asked_of(answer).reused > 0 and len(answer.logprob.output_token_logprobs_val) == 8
    fresh.forget_prefixes()
    of_prompt = fresh.ask(documents.prompt(3, 1, 4, 0, 2), SOME_AGAIN, return_logprob=True, logprob_start_len=0)
    assert asked_of(of_prompt).reused == 0
    assert fresh.reuser.counts["stock", "prompt_logprobs"] == 1


def test_requests_may_opt_out_and_wishes_that_are_malformed_are_stock(fresh: ReusingScheduler) -> None:
    documents = Documents(12)
    fresh.ask(documents.prompt())
    for wish, because in ((OFF, "off"), ({"reuse": 2}, "malformed_wish"), ("all", "malformed_wish")):
        assert asked_of(fresh.ask(documents.prompt(1, 0, 2), wish)).reused == 0
        assert fresh.reuser.counts["stock", because] > 0


def test_slower_requests_are_stock(fresh: ReusingScheduler) -> None:
    documents = Documents(13)
    fresh.ask(documents.prompt())
    fresh.reuser._settings = replace(fresh.reuser._settings, when="faster")
    # everything again takes as long as stock, and filling comes on top
    assert asked_of(fresh.ask(documents.prompt(4, 3, 2, 1, 0), ALL_AGAIN)).recomputed == 0
    assert fresh.reuser.counts["stock", "slower"] == 1


def test_the_self_test_finds_keys_that_are_turned_wrongly(
    fresh: ReusingScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = fresh.reuser._worker
    prove_reuse(worker, 4000, 1, 1000)
    rotation = worker.stored.rotation
    turn = rotation.turn
    monkeypatch.setattr(rotation, "turn", lambda keys, tables: turn(keys, tables) * torch.tensor(1.01))
    with pytest.raises(NotProvenError, match="turned to another place are off"):
        prove_reuse(worker, 4000, 1, 1000)
    fresh.flush()
