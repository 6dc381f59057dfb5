"""What is made of the times that were measured at the start."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from reprise_reuse.costs import Costs
from reprise_reuse.start.measure_costs import Loaded, _begin_runs, _few_rows, costs_of

# of an H200, in milliseconds, for 8 billion parameters; and others about that size
PRICES = st.builds(
    Costs, row=st.floats(0.005, 0.05), pair=st.floats(1e-6, 1e-5), run=st.floats(0, 1e-4), start=st.floats(0.1, 5),
    question=st.floats(0.5, 5), question_key=st.floats(1e-5, 1e-3), filling=st.floats(0.1, 1),
    filled_row=st.floats(1e-5, 1e-3), host_row=st.floats(1e-3, 1e-2),
)  # fmt: skip


@given(true=PRICES, largest=st.sampled_from([1024, 4096]), at=st.integers(256, 32_768))
def test_a_device_that_keeps_to_such_costs_is_predicted_far_beyond_what_was_measured(true, largest, at):
    rows = [*_few_rows(largest), *(np.arange(size) for size in (64, 128, 256, 512))]
    forwards = [(one, taken(true, one)) for one in rows]
    loads = [
        Loaded(size, true.filling + true.filled_row * size, true.filling + true.host_row * size,
               true.question + true.question_key * size)
        for size in (256, largest)
    ]  # fmt: skip
    found = costs_of(forwards, 0.0, loads)
    assert found.prefill(0, at) == approx(true.prefill(0, at), rel=1e-2)
    assert taken(found, np.arange(at - 256, at, 4)) == approx(taken(true, np.arange(at - 256, at, 4)), rel=1e-2)
    assert found.question + found.question_key * at == approx(true.question + true.question_key * at, rel=1e-2)
    assert found.filling + found.host_row * at == approx(true.filling + true.host_row * at, rel=1e-2)


def test_few_rows_are_at_the_end_and_all_over_a_context_whatever_its_length():
    for largest in (10, 64, 100, 1024, 4096):
        for rows in _few_rows(largest):
            assert (np.diff(rows) > 0).all() and rows[0] >= 0 and rows[-1] < largest


def taken(costs: Costs, rows: np.ndarray) -> float:
    return costs.forward(len(rows), int((rows + 1).sum()), int(rows[_begin_runs(rows)].sum()))
