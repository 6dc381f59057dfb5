"""What a share of the work of computing rows pays for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.costs import RowWork

WORKS = st.sampled_from([RowWork(), RowWork(64), RowWork(3072), RowWork(1e-3)])
POSITIONS = st.sets(st.integers(0, 20_000), max_size=200).map(lambda found: np.array(sorted(found), np.int64))


@given(work=WORKS, positions=POSITIONS, share=st.floats(0, 1))
def test_rows_that_are_affordable_cost_no_more_than_their_share_wherever_they_stand(work, positions, share):
    count = work.affordable(positions, share)
    costs = np.sort(work.of(positions))
    assert 0 <= count <= len(positions)
    allowed = share * costs.sum() * (1 + 1e-6)
    assert costs[len(costs) - count :].sum() <= allowed
    # one more row at the end would exceed it
    assert count == len(positions) or costs[len(costs) - count - 1 :].sum() > allowed * (1 - 1e-5)


@given(work=WORKS, positions=POSITIONS)
def test_the_whole_share_pays_for_all_rows_and_no_share_for_none(work, positions):
    assert work.affordable(positions, 1.0) == len(positions)
    assert work.affordable(positions, 0.0) == 0


@pytest.mark.parametrize(("even_keys", "rows"), [(math.inf, 600), (3072, 444)])
def test_a_share_of_the_work_is_fewer_rows_where_attention_costs_much(even_keys, rows):
    assert RowWork(even_keys).affordable(np.arange(4000), 0.15) == rows
