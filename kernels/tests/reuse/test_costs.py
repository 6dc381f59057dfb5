"""What loads and prefills are predicted to take, from measured times."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from reprise_reuse.costs import EVEN, Costs, fit, pairs_of

PRICE = st.floats(0, 2)


@given(begin=st.integers(0, 50), length=st.integers(0, 50))
def test_each_row_attends_to_itself_and_to_all_before_it(begin, length):
    assert pairs_of(begin, begin + length) == sum(row + 1 for row in range(begin, begin + length))


@given(
    rows=st.sets(st.integers(0, 4000), max_size=60), seconds=st.floats(-3, 3000),
    costs=st.builds(Costs, row=PRICE, pair=PRICE, run=PRICE, start=PRICE, least=PRICE),
)  # fmt: skip
def test_a_slice_takes_no_longer_than_it_may_unless_it_is_a_single_row(rows, seconds, costs):
    def taken(some: list[int]) -> float:
        before = sum(row for row in some if row - 1 not in some)
        return costs.forward(len(some), sum(row + 1 for row in some), before)

    ascending = sorted(rows)
    count, predicted = costs.affordable(torch.tensor(ascending, dtype=torch.int64), seconds)
    assert min(1, len(rows)) <= count <= len(rows)
    assert predicted == approx(taken(ascending[:count]))
    assert count <= 1 or predicted <= seconds
    assert count == len(rows) or taken(ascending[: count + 1]) > seconds * (1 - 1e-9) or count == 1


def test_where_nothing_was_measured_a_slice_has_as_many_rows_as_a_step_may_compute():
    assert EVEN.affordable(torch.arange(100), EVEN.prefill(0, 40)) == (40, 40.0)


@given(
    prices=st.lists(st.floats(0.1, 10), min_size=3, max_size=3),
    zero=st.sampled_from([None, 0, 1, 2]),
)
def test_costs_that_explain_all_measurements_are_found(prices, zero):
    if zero is not None:
        prices[zero] = 0.0
    sizes = [(n, n * n / 100, 1) for n in (16, 32, 64, 128, 256)]
    seconds = [sum(price * size for price, size in zip(prices, row, strict=True)) for row in sizes]
    assert fit(sizes, seconds) == approx(prices, rel=1e-4, abs=1e-4)


@given(seconds=st.lists(st.floats(1e-6, 10), min_size=4, max_size=4))
def test_no_cost_is_negative_whatever_was_measured(seconds):
    sizes = [(n, n * n, 1) for n in (64, 128, 256, 512)]
    found = fit(sizes, seconds)
    assert min(found) >= 0 and max(found) > 0


@given(
    costs=st.builds(Costs, row=PRICE, pair=PRICE, start=PRICE, least=PRICE),
    end=st.integers(1, 5000), rows=st.integers(1, 5000), seconds=st.floats(0, 100),
)  # fmt: skip
def test_rows_of_unknown_places_are_counted_as_if_each_were_the_last(costs, end, rows, seconds):
    count, predicted = costs.affordable_before(end, rows, seconds)
    assert 1 <= count <= rows
    assert count == 1 or costs.start + count * (costs.row + costs.pair * end) <= seconds * (1 + 1e-9)
    assert predicted == costs.forward(count, count * end)
