"""The scheduler's record of segments: who finds what, what counts as exact, and what is evicted for room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from reprise_reuse.segments import Catalogue, Segment
from reprise_reuse.segments.segment import prefix_digests

HERE, THERE = b"tenant a", b"tenant b"


def tokens(seed: int, length: int = 80) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 5000, length).astype(np.int32)


def enter(catalogue: Catalogue, prompt: np.ndarray, start: int, end: int, namespace: bytes = HERE, exact: bool = True):
    prefix = prefix_digests(prompt, [start])[start]
    return catalogue.add(namespace, prompt[start:end], start, prefix, is_exact=exact, user=b"")


def test_a_segment_is_exact_only_where_it_was_computed_and_behind_the_very_same_tokens():
    catalogue = Catalogue(1000)
    system, document, other = tokens(1), tokens(2), tokens(3)
    enter(catalogue, np.concatenate([system, document]), 80, 160)

    def judged(prompt):
        return [found.is_exact for found in catalogue.find(HERE, prompt)]

    assert judged(np.concatenate([system, document])) == [True]
    assert judged(np.concatenate([other, document])) == [False]
    assert judged(np.concatenate([system, other, document])) == [False]
    changed = document.copy()
    changed[0] += 1
    assert judged(np.concatenate([system, changed])) == [False]


def test_what_was_computed_behind_reused_rows_or_averaged_is_never_exact():
    catalogue = Catalogue(1000)
    prompt = np.concatenate([tokens(1), tokens(2)])
    enter(catalogue, prompt, 80, 160, exact=False)
    assert [found.is_exact for found in catalogue.find(HERE, prompt)] == [False]
    catalogue.clear()
    segment = enter(catalogue, prompt, 80, 160)
    segment.prefixes.append(b"another")
    assert [found.is_exact for found in catalogue.find(HERE, prompt)] == [False]


def test_namespaces_never_meet():
    catalogue = Catalogue(1000)
    prompt = tokens(1)
    enter(catalogue, prompt, 0, 80, HERE)
    assert catalogue.find(THERE, prompt) == []
    assert len(catalogue.find(HERE, prompt)) == 1


def test_the_least_recently_used_leaves_first_and_pinned_ones_stay():
    catalogue = Catalogue(240)
    first, second, third = (enter(catalogue, tokens(seed), 0, 80) for seed in range(3))
    catalogue.use([first])
    third.pins += 1
    assert enter(catalogue, tokens(3, 160), 0, 160) is not None
    assert catalogue.get(third.name) is third
    assert catalogue.get(first.name) is catalogue.get(second.name) is None
    assert enter(catalogue, tokens(4, 200), 0, 200) is None


def test_names_of_earlier_lives_are_not_given_again():
    catalogue = Catalogue(200, disk_tokens=200, first_name=7)
    assert enter(catalogue, tokens(1), 0, 10).name == 7
    catalogue.restore(Segment(3, HERE, tokens(3), None, 0, [b""], [b""], is_exact=True, is_on_disk=True))
    with pytest.raises(ValueError, match="segment 7"):
        catalogue.restore(Segment(7, HERE, tokens(3), None, 0, [b""], [b""], is_exact=True, is_on_disk=True))


def test_what_leaves_host_memory_stays_findable_while_it_is_on_disk():
    catalogue = Catalogue(100, disk_tokens=160)
    first = enter(catalogue, tokens(1), 0, 80)
    catalogue.written(first)
    second = enter(catalogue, tokens(2), 0, 80)
    assert first.slots is None and second.slots is not None
    assert [found.segment for found in catalogue.find(HERE, tokens(1))] == [first]
    catalogue.written(second)
    assert catalogue.fetch(first) and first.pins == 1 and second.slots is None
    catalogue.restore(Segment(9, HERE, tokens(3), None, 0, [b""], [b""], is_exact=True, is_on_disk=True))
    assert catalogue.get(second.name) is None and catalogue.take_dropped_files() == [second.name]
    assert catalogue.take_dropped_files() == []
    assert enter(catalogue, tokens(4), 0, 10).name == 10


def test_room_on_disk_that_something_else_takes_is_given_up():
    catalogue = Catalogue(200, disk_tokens=200)
    first, second = (enter(catalogue, tokens(seed), 0, 80) for seed in range(2))
    for segment in (first, second):
        catalogue.written(segment)
    catalogue.give_up_disk(100)
    assert catalogue.take_dropped_files() == [first.name]
    catalogue.give_up_disk(1000)
    assert catalogue.take_dropped_files() == [second.name]
    assert first.slots is not None and second.slots is not None


def test_what_was_never_repeated_leaves_before_what_was_while_it_holds_more_than_its_share():
    catalogue = Catalogue(400)
    first, second = (enter(catalogue, tokens(seed), 0, 80) for seed in range(2))
    catalogue.use([first, second])
    # many texts that nobody repeats
    flood = [enter(catalogue, tokens(10 + seed), 0, 80) for seed in range(9)]
    assert [catalogue.get(one.name) is not None for one in (first, second)] == [True, True]
    assert [one for one in flood if catalogue.get(one.name)] == flood[-3:]


def test_new_texts_keep_a_share_beside_those_that_were_repeated():
    catalogue = Catalogue(400)
    first, *others = (enter(catalogue, tokens(seed), 0, 80) for seed in range(5))
    catalogue.use([first, *others])
    new = enter(catalogue, tokens(9), 0, 80)
    assert catalogue.get(first.name) is None
    enter(catalogue, tokens(10), 0, 80)
    assert catalogue.get(others[0].name) is None and catalogue.get(new.name) is new


def test_a_segment_leaves_the_pages_with_the_first_of_its_blocks_and_is_brought_to_the_host():
    catalogue = Catalogue(100, block_size=16)
    pages = np.arange(40, 120)
    segment = catalogue.add(HERE, tokens(1), 0, b"", is_exact=True, user=b"", pages=pages)
    assert segment.slots is None and segment.is_at_hand and catalogue.host_tokens == 0
    assert catalogue.vacate(1) == [] and catalogue.vacate(8) == []
    left = catalogue.vacate(7)
    assert [one for one, _ in left] == [segment] and left[0][1] is pages
    assert not segment.is_at_hand and catalogue.vacate(3) == []
    assert catalogue.bring(segment) and len(segment.slots) == 80 and catalogue.host_tokens == 80


def test_a_copy_in_host_memory_outlives_the_pages_and_goes_first_if_there_is_no_room():
    catalogue = Catalogue(100, block_size=16)
    pages = np.arange(40, 120)
    first, second = (
        catalogue.add(HERE, tokens(seed), 0, b"", is_exact=True, user=b"", pages=pages + 1000 * seed) for seed in (0, 1)
    )
    assert catalogue.copy(first) and first.pages is not None and catalogue.host_tokens == 80
    # no room for both: the first one stays in the pages
    assert catalogue.copy(second) and first.slots is None and first.pages is not None
    catalogue.vacate_all()
    assert catalogue.get(first.name) is None and second.pages is None and len(second.slots) == 80


class Book(RuleBasedStateMachine):
    """Slots are never handed out twice, whatever is entered, used, pinned and dropped."""

    def __init__(self):
        super().__init__()
        self.catalogue = Catalogue(400, disk_tokens=300, block_size=16)
        self.seed = 0

    @rule(length=st.integers(1, 250), begin=st.integers(0, 300))
    def add_in_pages(self, length, begin):
        self.seed += 1
        pages = np.arange(begin, begin + length)
        self.catalogue.add(HERE, tokens(self.seed, length), 0, b"", is_exact=True, user=b"", pages=pages)

    @rule(block=st.integers(0, 40), is_admitted=st.booleans())
    def hand_out(self, block, is_admitted):
        for segment, pages in self.catalogue.vacate(block):
            assert block in pages // 16
            # what has been copied is there already
            if segment.slots is None and not (is_admitted and self.catalogue.bring(segment)):
                self.catalogue.drop(segment)

    @rule()
    def reset_pages(self):
        self.catalogue.vacate_all()

    @rule(length=st.integers(1, 250), namespace=st.sampled_from([HERE, THERE]))
    def add(self, length, namespace):
        self.seed += 1
        enter(self.catalogue, tokens(self.seed, length), 0, length, namespace)

    @rule(
        data=st.data(),
        action=st.sampled_from(["use", "pin", "unpin", "drop", "written", "fetch", "cut", "copy", "bring", "place"]),
    )
    def touch(self, data, action):
        held = list(self.catalogue._segments.values())
        if not held:
            return
        segment = data.draw(st.sampled_from(held))
        if action == "use":
            self.catalogue.use([segment])
        elif action == "pin":
            segment.pins += 1
        elif action == "unpin":
            segment.pins = max(0, segment.pins - 1)
        elif action == "drop" and not segment.pins:
            self.catalogue.drop(segment)
        elif action == "written" and segment.slots is not None:
            self.catalogue.written(segment)
        elif action == "copy" and segment.pages is not None:
            assert self.catalogue.copy(segment) == (segment.slots is not None)
        elif action == "bring" and segment.pages is not None:
            self.catalogue.bring(segment)
        elif action == "place" and segment.pages is not None:
            self.catalogue.place(segment, segment.pages + 20)
            assert segment.slots is None
        elif action == "cut" and segment.is_at_hand and not segment.pins:
            begin = data.draw(st.integers(0, len(segment) - 1))
            end = data.draw(st.integers(begin + 1, len(segment)))
            cut = self.catalogue.cut_out(segment, begin, end)
            assert np.array_equal(cut.tokens, segment.tokens[begin:end]) and cut.owner == segment.owner
        elif action == "fetch" and segment.is_on_disk:
            self.catalogue.fetch(segment)

    @invariant()
    def slots_are_disjoint_and_accounted_for(self):
        slots = [slot for one in self.catalogue._segments.values() if one.slots is not None for slot in one.slots]
        assert len(slots) == len(set(slots)) == self.catalogue.host_tokens <= 400

    @invariant()
    def everything_held_is_found(self):
        for segment in self.catalogue._segments.values():
            if len(segment) >= 32:
                found = self.catalogue.find(segment.namespace, segment.tokens)
                assert [one.segment for one in found] == [segment]
            assert segment.slots is not None or segment.is_on_disk or segment.pages is not None

    @invariant()
    def blocks_know_who_lies_in_them(self):
        lying = {(name, block) for block in range(60) for name in self.catalogue._residents.of(block)}
        assert lying == {
            (one.name, block)
            for one in self.catalogue._segments.values()
            if one.pages is not None
            for block in (one.pages // 16).tolist()
        }

    @invariant()
    def what_new_segments_hold_of_the_host_is_counted(self):
        new = [one for one in self.catalogue._order._new.values() if one.slots is not None]
        assert self.catalogue._order._new_host_tokens == sum(map(len, new))
        assert {*self.catalogue._order._new, *self.catalogue._order._repeated} == set(self.catalogue._segments)


TestBook = Book.TestCase


@given(length=st.integers(0, 300), cuts=st.sets(st.integers(0, 400)))
def test_digests_name_everything_in_front(length, cuts):
    prompt = tokens(1, length)
    digests = prefix_digests(prompt, cuts)
    assert set(digests) == {cut for cut in cuts if cut <= length}
    assert len(set(digests.values())) == len(digests)
    assert all(prefix_digests(prompt[:cut], [cut])[cut] == digest for cut, digest in digests.items())


@pytest.mark.parametrize("length", [0, 15, 16, 31])
def test_short_runs_are_not_reused(length):
    catalogue = Catalogue(100)
    if length:
        enter(catalogue, tokens(1, length), 0, length)
    assert catalogue.find(HERE, tokens(1, length)) == []
