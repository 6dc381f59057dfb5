"""Stored runs are found wherever they are, and only where they really are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.segments import MIN_JOINED, MIN_MATCH, Grams, SegmentIndex, cut
from reprise_reuse.segments.cut import LONGEST, SHORTEST
from reprise_reuse.segments.winnow import anchors

DOCUMENT = st.integers(MIN_MATCH, 300)


def draw(seed: int, length: int, vocabulary: int = 5000) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, vocabulary, length).astype(np.int32)


@given(lengths=st.lists(DOCUMENT, min_size=1, max_size=6), order=st.randoms(), glue=st.integers(0, 9))
def test_documents_are_found_whole_in_any_order_with_anything_between_them(lengths, order, glue):
    documents = [draw(seed, length) for seed, length in enumerate(lengths)]
    index = SegmentIndex()
    for name, document in enumerate(documents):
        index.add(name, document)
    names = list(range(len(documents)))
    order.shuffle(names)
    prompt = np.concatenate([part for n in names for part in (draw(100 + n, glue, 9) + 6000, documents[n])])
    matches = index.find(prompt)
    assert [match.segment for match in matches] == names
    assert all(match.offset == 0 and match.length == len(documents[match.segment]) for match in matches)


@given(seed=st.integers(0, 99), head=st.integers(0, 200), run=st.integers(MIN_MATCH, 200), tail=st.integers(0, 200))
def test_a_run_within_a_segment_is_found_from_its_first_token_to_its_last(seed, head, run, tail):
    segment = draw(seed, head + run + tail)
    index = SegmentIndex()
    index.add(7, segment)
    prompt = np.concatenate([[-1, -2], segment[head : head + run], [-3]]).astype(np.int32)
    assert index.find(prompt) == [(2, run, 7, head)]


@given(
    seed=st.integers(0, 999),
    vocabulary=st.integers(1, 4),
    segments=st.lists(st.integers(0, 120), min_size=1, max_size=5),
    begin=st.integers(0, 80),
)
def test_what_is_found_is_there_ascends_and_never_overlaps(seed, vocabulary, segments, begin):
    # few symbols, so that grams repeat within and between segments
    stored = [draw(seed + i, length, vocabulary) for i, length in enumerate(segments)]
    index = SegmentIndex()
    for name, tokens in enumerate(stored):
        index.add(name, tokens)
    prompt = draw(seed + 50, 300, vocabulary)
    covered = begin
    matches = index.find(prompt, begin)
    assert not matches or max(match.length for match in matches) >= MIN_MATCH
    for match in matches:
        assert match.start >= covered and match.length >= MIN_JOINED
        held = stored[match.segment][match.offset : match.offset + match.length]
        assert np.array_equal(prompt[match.start : match.end], held)
        covered = match.end


def stored_in_pieces(*lengths: int) -> tuple[np.ndarray, SegmentIndex]:
    """Returns a text, and an index that holds it in pieces of these lengths, named from 0 on."""
    text, index, at = draw(5, sum(lengths)), SegmentIndex(), 0
    for name, length in enumerate(lengths):
        index.add(name, text[at : at + length])
        at += length
    return text, index


def test_a_run_goes_on_in_the_next_segment_and_begins_in_the_one_before_for_a_few_tokens():
    text, index = stored_in_pieces(80, 70, 90)
    prompt = np.concatenate([[-1], text[80 - 9 : 150 + 11], [-2]]).astype(np.int32)
    assert index.find(prompt) == [(1, 9, 0, 71), (10, 70, 1, 0), (80, 11, 2, 0)]


def test_segments_too_short_to_be_found_are_found_beside_others():
    text, index = stored_in_pieces(80, 10, 12, 70)
    assert [match.segment for match in index.find(text)] == [0, 1, 2, 3]
    assert [match.segment for match in index.find(text[:100])] == [0, 1, 2]
    assert index.find(text[80:102]) == []


def test_prompts_that_begin_alike_share_their_beginning_however_short_it_is():
    system, one, other = draw(1, 12), draw(2, 90), draw(3, 90)
    index = SegmentIndex()
    index.add(0, np.concatenate([system, one]))
    index.add(1, other)
    assert index.find(np.concatenate([system, other])) == [(0, 12, 0, 0), (12, 90, 1, 0)]
    # but it is too short on its own, and elsewhere it is no beginning
    assert index.find(system) == []
    assert index.find(np.concatenate([[-1], system, other])) == [(13, 90, 1, 0)]


def test_what_stands_between_two_runs_is_no_part_of_either_if_it_is_other_text():
    text, index = stored_in_pieces(80, 70)
    prompt = np.concatenate([text[:80], draw(9, 20), text[80:]])
    assert [match.segment for match in index.find(prompt)] == [0, 1]
    # no continuation from within a segment: the prompt differs there
    assert index.find(np.concatenate([text[:60], text[80:100]])) == [(0, 60, 0, 0)]


@given(
    cuts=st.lists(st.integers(MIN_JOINED, 90), min_size=1, max_size=8), head=st.integers(0, 60), tail=st.integers(0, 60)
)
def test_of_a_text_stored_in_pieces_only_rims_shorter_than_a_joined_run_are_missed(cuts, head, tail):
    text, index = stored_in_pieces(MIN_MATCH, *cuts, MIN_MATCH)
    begin, end = min(head, MIN_MATCH - 1), len(text) - min(tail, MIN_MATCH - 1)
    matches = index.find(text[begin:end])
    if any(length >= MIN_MATCH for length in cuts):
        found = sum(match.length for match in matches)
        assert end - begin - found < 2 * MIN_JOINED


@given(lengths=st.lists(DOCUMENT, min_size=2, max_size=5), gone=st.integers(0, 4))
def test_what_is_removed_is_found_no_more_and_the_rest_still_is(lengths, gone):
    documents = [draw(seed, length) for seed, length in enumerate(lengths)]
    index = SegmentIndex()
    for name, document in enumerate(documents):
        index.add(name, document)
    gone %= len(documents)
    index.remove(gone)
    found = {match.segment for match in index.find(np.concatenate(documents))}
    assert found == set(range(len(documents))) - {gone}
    assert len(index) == len(documents) - 1


@given(seed=st.integers(0, 99), length=st.integers(0, 200), part=st.tuples(st.integers(0, 200), st.integers(0, 200)))
def test_the_anchors_of_a_part_are_picked_from_the_grams_of_the_whole(seed, length, part):
    # of three tokens, so that hashes repeat
    tokens, (begin, end) = draw(seed, length, 3), sorted(min(one, length) for one in part)
    for picked, own in zip(Grams(tokens).anchors(begin, end), anchors(tokens[begin:end]), strict=True):
        assert picked.tolist() == own.tolist()


@given(
    length=st.integers(0, 2000),
    lines=st.sets(st.integers(0, 2200), max_size=100),
    borders=st.sets(st.integers(0, 2000), max_size=5),
    begin=st.integers(0, 100),
)
def test_cuts_lose_no_token_and_end_at_lines_and_at_known_borders(length, lines, borders, begin):
    last = begin + length
    pieces = list(cut(begin, last, sorted(lines), sorted(borders)))
    assert [start for start, _ in pieces[1:]] == [end for _, end in pieces[:-1]]
    assert not length or (pieces[0][0], pieces[-1][1]) == (begin, last)
    for start, end in pieces:
        assert 0 < end - start <= LONGEST
        # no border, and no line from the shortest segment on, is passed over
        assert borders.isdisjoint(range(start + 1, end)) and lines.isdisjoint(range(start + SHORTEST, end))
        assert end - start >= SHORTEST or end in borders or end == last
        assert end in {*borders, *lines, last} or end - start == LONGEST
