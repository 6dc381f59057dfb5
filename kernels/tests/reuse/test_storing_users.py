"""Whoever adds to a segment that others dominate makes it usable at once, and nobody ever has more than half of it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.pieces import Piece
from reprise_reuse.prompts.storing import Computed, Storing
from reprise_reuse.prompts.users import EVERYONE, may_use
from reprise_reuse.segments import Catalogue, Segment

DOCUMENT = np.arange(1000, 1100, dtype=np.int32)


class Stored:
    """What the host's store makes of the pieces: whose share in the document's mean is how large."""

    def __init__(self, contexts: int = 4) -> None:
        self.catalogue = Catalogue(2000)
        self._storing = Storing(self.catalogue, contexts, 10_000, [])
        self._sent = 0
        self.shares: dict[bytes, Fraction] = {}
        self._contexts = 0

    def add(self, user: bytes, store: str = "averaged") -> None:
        """A request of the user puts the document after a prefix that nobody has had."""
        self._sent += 1
        prefix = np.full(64 + self._sent, self._sent, np.int32)
        tokens = np.concatenate([prefix, DOCUMENT])
        save = self._storing.store(Computed(b"", tokens, [[]], None, [], user, store, begin=len(prefix)))
        self._storing.end_step()
        for piece in save.pieces if save else ():
            if piece.end == len(tokens):
                self._mix(piece, user)

    def _mix(self, piece: Piece, user: bytes) -> None:
        if not piece.is_average:
            self.shares, self._contexts = Counter({user: Fraction(1)}), 1
            return
        self._contexts = 1 if piece.is_held_as_one else self._contexts
        new = Fraction(1, self._contexts + 1)
        self.shares = Counter({one: share * (1 - new) for one, share in self.shares.items()})
        self.shares[user] += new
        self._contexts += 1

    @property
    def segment(self) -> Segment:
        return self.catalogue.find(b"", DOCUMENT)[0].segment


@pytest.mark.parametrize("times", [1, 4])
def test_what_one_user_had_computed_often_serves_all_as_soon_as_another_has_added_to_it(times):
    stored = Stored()
    for _ in range(times):
        stored.add(b"one")
    assert not may_use(stored.segment, b"two", "averaged")
    stored.add(b"two")
    assert stored.segment.users == [b"one", b"two"]
    assert stored.shares == {b"one": Fraction(1, 2), b"two": Fraction(1, 2)}
    assert all(may_use(stored.segment, user, "averaged") for user in (b"one", b"two", EVERYONE))


def test_a_user_does_not_take_back_more_than_half():
    stored = Stored()
    for user in (b"one", b"two", b"one", b"one"):
        stored.add(user)
    assert stored.segment.users == [b"one", b"two"]
    for user in (b"three", b"one", b"one"):
        stored.add(user)
    assert stored.segment.users == [b"one", b"two", b"three", b"one"]


def test_with_users_who_trust_each_other_every_context_counts():
    stored = Stored(contexts=9)
    for user in (b"one", b"one", b"one", b"two", b"one"):
        stored.add(user, "all")
    assert stored.segment.users == [b"one", b"one", b"one", b"two", b"one"]
    assert stored.shares == {b"one": Fraction(4, 5), b"two": Fraction(1, 5)}


@given(users=st.lists(st.sampled_from([b"one", b"two", b"three", b"four"]), min_size=1, max_size=20))
def test_nobody_has_more_than_half_of_what_others_reuse(users):
    stored = Stored(contexts=6)
    for user in users:
        stored.add(user)
        most = max(stored.shares.values())
        assert sum(stored.shares.values()) == 1
        assert may_use(stored.segment, EVERYONE, "averaged") == (most <= Fraction(1, 2))
        assert len(set(users[: stored._sent])) == 1 or most <= Fraction(1, 2)
