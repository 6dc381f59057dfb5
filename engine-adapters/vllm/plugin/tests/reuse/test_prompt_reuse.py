"""What requests reuse, as it is decided for every engine."""

import logging

import pytest

from reprise_reuse.prompts.asked import Asked
from reprise_reuse.requests.prompt_reuse import Limits, PromptReuse
from reprise_settings.reuse_settings import ReuseSettings

DOCUMENT = list(range(1000, 1200))
SETTINGS = ReuseSettings(when="always")


@pytest.fixture
def reuse() -> PromptReuse:
    limits = Limits(host_tokens=2000, disk_tokens=0, row_bytes=16, rows_per_step=1000, most_checked=1000)
    return PromptReuse(SETTINGS, limits, [], logging.getLogger("reprise"))


def asks(prefix: int, *, salt: str = "t", **wish: object) -> Asked:
    """A request for the document behind so many tokens, of which nothing is stored."""
    tokens = [*(prefix + at for at in range(prefix)), *DOCUMENT, *range(5000, 5100)]
    return Asked.of(tokens, {"reprise": {"kept_from": prefix, **wish}}, SETTINGS, (salt,), None)


def compute(reuse: PromptReuse, asked: Asked) -> None:
    """The engine computes the document, with full attention."""
    reuse._save(asked, [list(range(len(asked.prompt)))], asked.wish.kept_from + len(DOCUMENT))
    reuse._share()


def test_a_document_is_exact_behind_the_same_tokens_and_approximate_behind_others(reuse):
    compute(reuse, asks(70))
    same, other = asks(70), asks(80)
    claims = [reuse._claim(one, reuse._find(one, begin), begin) for one, begin in ((same, 70), (other, 80))]
    assert [(one.exact, one.exact_end) for one in claims] == [(len(DOCUMENT), 270), (0, 80)]
    for one, claim in zip((same, other), claims, strict=True):
        one.filled(claim)
    assert (same.exact_tokens, other.exact_tokens) == (None, 80)


def test_a_request_that_waits_learns_that_what_it_has_found_is_now_a_mean(reuse):
    compute(reuse, asks(70))
    waiting = asks(70)
    assert [one.is_exact for one in reuse._find(waiting, 0)] == [True]
    compute(reuse, asks(80))
    assert [one.is_exact for one in reuse._find(waiting, 0)] == [False]


def test_a_request_that_waits_is_looked_up_once(reuse, monkeypatch):
    compute(reuse, asks(70))
    waiting = asks(90)
    (found,) = reuse._find(waiting, 0)
    monkeypatch.setattr(reuse._catalogue, "find", None)
    assert reuse._find(waiting, 0) == [found]


def test_other_salts_and_users_find_nothing(reuse):
    compute(reuse, asks(70, user="one"))
    assert len(reuse._find(asks(80, user="one"), 0)) == 1
    assert reuse._find(asks(80, user="two"), 0) == reuse._find(asks(80, user="one", salt="u"), 0) == []


def test_a_request_computed_again_in_full_is_exact(reuse):
    compute(reuse, asks(70))
    for ratio, is_averaged in ((1, True), (0.5, False)):
        asked = asks(80 + is_averaged, reuse=ratio)
        asked.filled(reuse._claim(asked, reuse._find(asked, 0), 0))
        before = reuse._storing.counts["averaged"]
        compute(reuse, asked)
        assert reuse._storing.counts["averaged"] == before + is_averaged


def test_a_request_is_told_why_it_claims_nothing(reuse):
    compute(reuse, asks(70))
    reuse._settings = ReuseSettings(when="always", least_tokens=1000)
    asked = asks(80)
    assert reuse._claim(asked, reuse._find(asked, 0), 0) is None
    assert asked.unclaimed_because == "few_tokens"
