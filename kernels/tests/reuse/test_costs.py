"""What loads and prefills are predicted to take, from measured times."""

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from reprise_reuse.costs import EVEN, Costs, fit, pairs_of

PRICE = st.floats(0, 2)


@given(begin=st.integers(0, 50), length=st.integers(0, 50))
def test_each_row_attends_to_itself_and_to_all_before_it(begin, length):
    assert pairs_of(begin, begin + length) == sum(row + 1 for row in range(begin, begin + length))


def test_where_nothing_was_measured_a_slice_has_as_many_rows_as_a_step_may_compute():
    assert EVEN.affordable(100, 100, EVEN.prefill(0, 40)) == (40, 40.0)


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
    costs=st.builds(Costs, row=PRICE, pair=PRICE, run=PRICE, start=PRICE, least=PRICE),
    end=st.integers(1, 5000), rows=st.integers(1, 5000), seconds=st.floats(0, 100),
)  # fmt: skip
def test_a_slice_takes_no_longer_than_it_may_unless_it_is_a_single_row_if_each_were_the_last(costs, end, rows, seconds):
    count, predicted = costs.affordable(end, rows, seconds)
    assert 1 <= count <= rows
    each = costs.row + (costs.pair + costs.run / 2) * end
    assert count == 1 or costs.start + count * each <= seconds * (1 + 1e-9)
    assert predicted == costs.forward(count, count * end, count * end / 2)
