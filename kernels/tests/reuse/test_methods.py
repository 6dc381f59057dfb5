"""Choices by score: each paper's, its rivals', and ours."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.methods import METHODS, Evidence, choose, dependence, favour_runs
from reprise_reuse.rows.engine_parts import Runs, to_passes


def evidence(n: int = 12, spread: torch.Tensor | None = None) -> Evidence:
    random = torch.Generator().manual_seed(0)

    def draw() -> torch.Tensor:
        return torch.rand(4, n, generator=random)

    return Evidence(
        attention=draw(), spread=torch.zeros(n) if spread is None else spread,
        offset=torch.arange(n).float() % 4,
    )  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_every_method_scores_every_token_and_the_same_evidence_alike(name):
    scores = [METHODS[name].score(evidence()) for _ in range(2)]
    assert scores[0].shape == (12,) and torch.isfinite(scores[0]).all()
    assert torch.equal(*scores)


def test_ours_weighs_attention_by_spread_and_by_the_distance_to_the_start_where_no_spread_is_known():
    given = evidence(spread=torch.tensor([0.0, 2, 0, 4, 0, 2, 0, 4, 0, 2, 0, 4]))
    known = given.spread > 0
    scores = METHODS["attention-spread"].score(given)
    depend = dependence(given)
    torch.testing.assert_close(scores, favour_runs(given.attention.sum(0) * depend))
    torch.testing.assert_close(depend[known], (given.spread * (given.offset + 1) ** -0.25)[known])
    # tokens with one context: by the offset alone
    assert depend[0] > depend[2] > 0 and depend[0] == depend[4]
    torch.testing.assert_close(dependence(evidence()), 1 + 2 * torch.exp(-evidence().offset / 8))


def test_of_equal_spread_the_tokens_nearer_to_their_segments_start_depend_on_more():
    depend = dependence(evidence(spread=torch.ones(12)))
    assert depend[0] > depend[1] > depend[2] > depend[3] and depend[4] == depend[0]


@given(scores=st.lists(st.floats(0, 100, width=32), min_size=1, max_size=40))
def test_favouring_runs_raises_a_score_to_a_neighbours_and_to_twice_its_own_at_most(scores):
    score = torch.tensor(scores)
    raised = favour_runs(score)
    assert bool((raised >= score).all()) and bool((raised <= 2 * score).all())
    assert raised.max() == score.max()


def test_rows_beside_a_good_one_come_before_equal_ones_elsewhere():
    score = torch.tensor([3.0, 0, 0, 0, 4, 2, 0, 9, 5, 3, 0, 3])
    assert choose(score, torch.arange(12), 5).tolist() == [0, 4, 7, 8, 9]
    assert choose(favour_runs(score), torch.arange(12), 5).tolist() == [4, 5, 7, 8, 9]


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    budget=st.integers(0, 45),
    seed=st.integers(0, 99),
)
def test_the_budget_goes_to_the_best_candidates_and_of_equals_to_the_earlier(scores, budget, seed):
    score = torch.tensor(scores).float()
    candidates = (torch.rand(len(scores), generator=torch.Generator().manual_seed(seed)) < 0.7).nonzero().flatten()
    chosen = choose(score, candidates, budget)
    ranked = sorted(candidates.tolist(), key=lambda row: (-scores[row], row))
    assert chosen.tolist() == sorted(ranked[:budget])


def spans_of(runs: Runs) -> list[list[int]]:
    spans = [runs.rows[a:b].tolist() for a, b in pairwise(runs.starts.tolist())]
    assert runs.ends.tolist() == [span[-1] + 1 for span in spans]
    return spans


@given(requests=st.lists(st.sets(st.integers(0, 60)), min_size=1, max_size=4), most_runs=st.integers(1, 20))
def test_passes_hold_all_rows_in_order_as_runs_of_neighbours_of_one_request_within_the_limit(requests, most_runs):
    every = [(number, row) for number, rows in enumerate(requests) for row in sorted(rows)]
    rows = torch.tensor([row for _, row in every], dtype=torch.int64)
    passes = list(to_passes(rows, [len(one) for one in requests], most_runs))
    done = 0
    for runs in passes:
        spans = spans_of(runs)
        assert runs.begin == done and len(spans) <= most_runs
        for span, request in zip(spans, runs.requests.tolist(), strict=True):
            assert span == list(range(span[0], span[-1] + 1))
            assert [(request, row) for row in span] == every[done : done + len(span)]
            done += len(span)
    assert done == len(every)
