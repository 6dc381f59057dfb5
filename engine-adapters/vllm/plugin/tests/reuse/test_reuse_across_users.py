"""A document's rows hold what stood before it, so of other users' rows only trusted ones are reused."""

from collections.abc import Iterator
from typing import Any

import pytest
from reuse_model import ReusingEngine, make_model
from reuse_prompts import DOCUMENTS, QUESTION, SYSTEM, difference, full_attention, said, tokens

from reprise_reuse.prompts.users import store_of
from reprise_settings.reuse_settings import ReuseSettings

DOCUMENT = [*DOCUMENTS[3], *DOCUMENTS[4], *DOCUMENTS[5]]
POISON = [*tokens(66, 200), *DOCUMENT, *tokens(67, QUESTION)]
ASKED = [*tokens(0, SYSTEM), *DOCUMENT, *tokens(1, QUESTION)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    reuse = {"host_bytes": 8 << 20, "ratio": 0, "preprocess_key": "secret"}
    engine = ReusingEngine(make_model(tmp_path_factory.mktemp("model")), reuse)
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()


def store(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    monkeypatch.setattr(engine.reuse, "_settings", ReuseSettings(ratio=0, store=which, preprocess_key="secret"))


def ask(engine: ReusingEngine, prompt: list[int], user: str, **wish: Any) -> tuple[Any, int]:
    """Returns the answer, and how many tokens were reused."""
    engine.tokens_by_kind()
    answer = engine.ask([prompt], {"user": user, **wish})[0]
    return answer, engine.tokens_by_kind()["reused"]


def behind(seed: int, length: int) -> list[int]:
    return [*tokens(seed, length), *DOCUMENT, *tokens(1, QUESTION)]


def test_what_one_user_writes_in_front_of_a_document_does_not_reach_another(engine):
    ask(engine, POISON, "mallory")
    answer, reused = ask(engine, ASKED, "victim")
    expected = full_attention(engine, ASKED)
    assert reused == 0
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_it_would_reach_others_if_everybody_were_trusted(engine, monkeypatch):
    store(engine, monkeypatch, "all")
    ask(engine, POISON, "mallory")
    answer, reused = ask(engine, ASKED, "victim")
    assert reused > 200 and difference(answer, full_attention(engine, ASKED)) > 1e-2


@pytest.mark.parametrize("user", ["alice", ""], ids=["named", "unnamed"])
def test_ones_own_segments_are_reused_at_once(engine, user):
    ask(engine, POISON, user)
    assert ask(engine, ASKED, user)[1] > 200


def test_a_document_that_two_users_have_brought_is_reused_for_all(engine):
    ask(engine, POISON, "alice")
    assert ask(engine, ASKED, "bob")[1] == 0
    assert ask(engine, behind(5, 80), "carol")[1] > 200


def test_a_user_who_brings_a_document_often_has_half_of_its_mean_once_another_brings_it(engine):
    for number in range(4):
        ask(engine, [*tokens(70 + number, 100), *DOCUMENT, *tokens(67, QUESTION)], "mallory", reuse="off")
    assert ask(engine, ASKED, "bob")[1] == 0
    assert ask(engine, behind(5, 80), "carol")[1] > 200
    assert ask(engine, behind(6, 90), "mallory")[1] > 200


@pytest.mark.parametrize("which", ["averaged", "preprocessed"])
def test_what_was_preprocessed_is_reused_for_all_and_changed_by_nobody(engine, monkeypatch, which):
    store(engine, monkeypatch, which)
    ask(engine, POISON, "mallory")
    ask(engine, [*tokens(50, 100), *DOCUMENT, *tokens(68, QUESTION)], "", reuse="off", preprocess="secret")
    ask(engine, [*tokens(67, 150), *POISON], "mallory", reuse="off")
    held = [one for one in engine.reuse._catalogue._segments.values() if len(one) > 200]
    assert any(one.users == [b""] for one in held)
    assert ask(engine, ASKED, "victim")[1] > 200


def test_with_preprocessed_two_users_are_not_enough_and_a_false_key_is_of_no_use(engine, monkeypatch):
    store(engine, monkeypatch, "preprocessed")
    ask(engine, POISON, "alice", reuse="off", preprocess="guessed")
    assert ask(engine, ASKED, "bob")[1] == 0
    assert ask(engine, behind(5, 80), "carol")[1] == 0
    assert ask(engine, behind(6, 80), "alice")[1] > 200


def test_an_approximate_turn_is_continued_only_by_its_user(engine):
    ask(engine, POISON, "mallory")
    assert ask(engine, ASKED, "mallory")[1] > 200
    after = [*ASKED, *tokens(9, QUESTION)]
    assert ask(engine, after, "mallory")[1] > 200
    answer, reused = ask(engine, after, "victim")
    assert reused == 0 and difference(answer, full_attention(engine, after)) < 1e-3


def test_users_of_a_trusted_salt_share_everything():
    settings = ReuseSettings(trusted_salts=("ours",))
    assert (store_of("ours", settings), store_of("other", settings), store_of(None, settings)) == (
        "all", "averaged", "averaged",
    )  # fmt: skip
