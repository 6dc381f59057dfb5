"""Tests `SparseRows` against a plain dict, whatever the runner does to its batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise_settings.page_settings import MALFORMED, PageSettingError, asked_ratio
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.sparse_rows import NONE, SparseRows

ROWS, SLOTS = 6, 3
actions = st.one_of(
    st.tuples(st.just("add"), st.integers(0, ROWS - 1), st.sampled_from([None, 0.25, 0.5])),
    st.tuples(st.just("remove"), st.integers(0, ROWS - 1), st.none()),
    st.tuples(st.just("move"), st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)),
    st.tuples(st.just("swap"), st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)),
)


@settings(deadline=None)
@given(st.lists(actions, max_size=40))
def test_requests_keep_their_slots_wherever_they_are_moved(done):
    rows, plain, slot_of, name = SparseRows(SLOTS, ROWS), {}, {}, 0
    for what, row, with_ in done:
        if what == "add":
            plain.pop(row, None)
            slot = rows.add(row, with_)
            # there is a slot as long as fewer requests are sparse
            assert (slot is None) == (with_ is None or len(plain) == SLOTS)
            if slot is not None:
                name += 1
                plain[row], slot_of[name] = name, slot
                rows.ratio[slot] = name
        elif what == "remove":
            rows.remove(row)
            plain.pop(row, None)
        elif row != with_:
            rows.move(row, with_, is_swap=what == "swap")
            one, two = plain.pop(row, None), plain.pop(with_, None)
            if one is not None:
                plain[with_] = one
            if two is not None and what == "swap":
                plain[row] = two
        slots = rows.slots(np.arange(ROWS))
        expected = [slot_of[plain[row]] if row in plain else NONE for row in range(ROWS)]
        assert slots.tolist() == expected
        assert [rows.ratio[slot_of[one]] for one in plain.values()] == list(plain.values())
        assert len(rows) == len(plain)


def test_a_place_that_is_not_seen_for_long_gives_its_slot_to_a_new_request():
    rows = SparseRows(1, 3)
    assert rows.add(0, 0.5) == 0
    assert rows.add(1, 0.5) is None and rows.counts["pages_stock", "too_many"] == 1
    for _ in range(300):
        rows.slots(np.array([1, 2]))
    assert rows.add(1, 0.5) == 0
    assert rows.slots(np.array([0, 1])).tolist() == [NONE, 0]


@pytest.mark.parametrize(
    ("given_", "ratio"),
    [
        (None, None), ({}, None), ({"other": 1}, None), ({"reprise_pages": 1}, None), ({"reprise_pages": "1.0"}, None),
        ({"reprise_pages": 0.25}, 0.25), ({"reprise_pages": "0.25"}, 0.25), ({"reprise_pages": 0}, 0.1),
        ({"reprise_pages": 2}, MALFORMED), ({"reprise_pages": -1}, MALFORMED), ({"reprise_pages": "x"}, MALFORMED),
        ({"reprise_pages": True}, MALFORMED), ({"reprise_pages": [0.5]}, MALFORMED),
        ({"reprise_pages": float("nan")}, MALFORMED),
    ],
)  # fmt: skip
def test_what_a_request_asks_for_is_read_within_the_operators_bounds(given_, ratio):
    assert asked_ratio(given_, PageSettings().min_ratio) == ratio


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ({"pages": 3}, "must be an object"),
        ({"pages": {"min_rato": 0.1}}, "did you mean min_ratio"),
        ({"pages": {"min_ratio": 2}}, "a number from 0 to 1"),
        ({"pages": {"requests": 0}}, "a whole number from 1"),
        ({"pages": {"selector": "best"}}, "must be one of attention-mass"),
        ({"pages": {"max_entropy": 1}}, "go together"),
        ({"pages": {"max_entropy": 1, "max_varentropy": 1}}, "pages.every must be 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(extra, says):
    with pytest.raises(PageSettingError, match=says):
        PageSettings.read(extra)


def test_it_is_off_unless_the_operator_asks_for_it():
    assert PageSettings.read({}) is None and PageSettings.read({"pages": False}) is None
    assert PageSettings.read({"pages": True}) == PageSettings()
