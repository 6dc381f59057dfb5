"""Which rows of a prompt are claimed, and which tokens' attention chooses the rows to recompute."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.costs import EVEN, Costs, RowWork
from reprise_reuse.prompts import claims
from reprise_reuse.prompts.claims import LAST_TOKENS, QUESTION_TOKENS, Claim
from reprise_reuse.segments import Found, Match, Segment

ALIKE = RowWork()


def make_claim(
    *given, work: RowWork = ALIKE, method: str = "attention-spread", costs: Costs = EVEN, is_lossless: bool = True,
    asked: range | None = None,
) -> Claim | None:  # fmt: skip
    return claims.make_claim(*given, work, method, costs, is_lossless=is_lossless, asked=asked)


def found(start: int, length: int, is_exact: bool = False) -> Found:
    segment = Segment(0, b"", np.zeros(length, np.int32), np.arange(length), start, [b""], [b""], is_exact)
    return Found(Match(start, length, 0, 0), segment, is_exact)


@given(
    runs=st.lists(st.tuples(st.integers(0, 90), st.integers(32, 200), st.booleans()), max_size=6),
    begin=st.integers(0, 100),
    tail=st.integers(0, 100),
    ratio=st.floats(0, 1),
    is_lossless=st.booleans(),
    even_keys=st.sampled_from([100.0, 3072.0, math.inf]),
)
def test_every_row_of_a_claim_is_cached_exact_reused_recomputed_or_a_gap(
    runs, begin, tail, ratio, is_lossless, even_keys
):
    at, given_runs = begin, []
    for gap, length, is_exact in runs:
        given_runs.append(found(at + gap, length, is_exact))
        at += gap + length
    length = at + tail + 1
    claim = make_claim(given_runs, begin, length, ratio, 32, work=RowWork(even_keys), is_lossless=is_lossless)
    if claim is None:
        return
    assert begin <= claim.exact_end <= claim.end <= length - LAST_TOKENS
    behind_the_same = sum(one.match.length for one in claim.found if one.is_exact)
    assert claim.exact == (behind_the_same if is_lossless else 0)
    inexact = [one.match.start for one in claim.found if not (is_lossless and one.is_exact)]
    assert claim.exact_end == min([*inexact, claim.end])
    assert claim.exact + claim.reused + claim.budget + claim.gaps == claim.end - begin
    assert 0 <= claim.budget <= ratio * claim.approximate + 1e-6
    if even_keys == math.inf:
        assert claim.budget > ratio * claim.approximate - 1
    # the question is new or at the end, in order, and not too long
    assert list(claim.question) == sorted(set(claim.question)) and len(claim.question) <= QUESTION_TOKENS
    assert claim.question[-1] == length - 1


def test_the_exact_part_ends_at_the_first_approximate_run():
    def exact_end(*runs: Found) -> int:
        return make_claim(runs, 64, 1000, 0.1, 32).exact_end

    assert exact_end(found(64, 100, True), found(164, 100, True), found(264, 50)) == 264
    # gaps behind exact rows are computed from these
    assert exact_end(found(64, 100, True), found(170, 100, True)) == 270
    assert exact_end(found(70, 100)) == 70


def test_rows_that_came_back_changed_are_computed_again_where_all_shall_be_as_full_attention_gives_it():
    runs = [found(0, 100, True), found(100, 100)]
    part, all_of_it = (make_claim(runs, 0, 400, ratio, 64, is_lossless=False) for ratio in (0.5, 1.0))
    assert (part.budget, part.reused) == (50, 150)
    assert (all_of_it.budget, all_of_it.reused) == (200, 0)


def test_little_is_not_worth_a_claim():
    assert make_claim([], 0, 500, 0.1, 64) is None
    assert make_claim([found(0, 63)], 0, 500, 0, 64) is None
    assert make_claim([found(0, 64)], 0, 500, 0, 64) is not None
    # the end of a repeated prompt is computed anyway
    assert make_claim([found(0, 90)], 0, 90, 0.1, 64) is None


COSTS = st.builds(Costs, *[st.floats(0, 2) for _ in range(10)])


@given(
    runs=st.lists(st.tuples(st.integers(0, 90), st.integers(32, 200), st.booleans()), min_size=1, max_size=6),
    tail=st.integers(64, 200), ratio=st.floats(0, 1), costs=COSTS,
)  # fmt: skip
def test_a_prediction_covers_every_part_of_a_request_and_no_choice_without_the_question_is_slower(
    runs, tail, ratio, costs
):
    at, given_runs = 0, []
    for gap, length, is_exact in runs:
        given_runs.append(found(at + gap, length, is_exact))
        at += gap + length
    claim = make_claim(given_runs, 0, at + tail, ratio, 32, costs=costs)
    seconds = claim.seconds
    assert seconds.cold == costs.prefill(0, at + tail) and seconds.rest == costs.prefill(claim.end, at + tail)
    assert seconds.filling >= costs.filling + costs.host_row * sum(one.match.length for one in claim.found) - 1e-6
    assert (seconds.question > 0) <= claim.asks
    computed = claim.gaps + claim.budget
    assert seconds.rows >= (max(costs.least, costs.row * computed) if computed else 0)
    if claim.method != "attention-spread":
        asking = costs.question + costs.question_key * claim.end
        assert seconds.is_faster and not replace(seconds, question=asking).is_faster


@given(
    runs=st.lists(st.tuples(st.integers(0, 90), st.integers(32, 200)), min_size=1, max_size=6),
    tail=st.integers(1, 200), ratio=st.floats(0, 1), costs=COSTS,
)  # fmt: skip
def test_nothing_is_claimed_that_is_predicted_to_be_slower(runs, tail, ratio, costs):
    """Recorded costs are added up row by row, for the last rows that may be recomputed, in pairs."""
    at, given_runs, computed = 0, [], []
    for gap, length in runs:
        computed += range(at, at + gap)
        given_runs.append(found(at + gap, length))
        at += gap + length
    length = at + tail
    claim = make_claim(given_runs, 0, length, ratio, 32, costs=costs)
    if claims.why_unclaimed(given_runs, claim, "faster") is not None:
        return
    reused = [row for one in claim.found for row in range(one.match.start, one.match.end)]
    computed = [row for row in computed if row < claim.end]
    chosen = reused[len(reused) - claim.budget :]
    keys = sum(row for row in computed if row - 1 not in computed) + sum(chosen) / 2
    load = costs.forward(len(computed) + len(chosen), sum(row + 1 for row in computed + chosen), keys)
    load += costs.filling + costs.host_row * len(reused)
    if claim.method != "epic" and 0 < claim.budget < len(reused):
        load += costs.question + costs.question_key * claim.end
    rest = costs.forward(length - claim.end, sum(range(claim.end + 1, length + 1)), claim.end)
    cold = costs.forward(length, sum(range(1, length + 1)))
    assert load + rest <= cold * (1 + 1e-9) + 1e-6


def test_why_nothing_is_claimed():
    one = [found(0, 100)]
    slower = make_claim(one, 0, 400, 0, 64, costs=Costs(row=1, filling=1000))
    assert claims.why_unclaimed([], None, "faster") is None
    assert claims.why_unclaimed(one, None, "faster") == "few_tokens"
    assert claims.why_unclaimed(one, slower, "faster") == "slower"
    assert claims.why_unclaimed(one, slower, "always") is None


def test_rows_are_chosen_without_the_question_where_only_asking_it_makes_reuse_slower():
    def method(asking: float, method: str = "prophetkv") -> str:
        return make_claim([found(0, 100)], 0, 400, 0.15, 64, method=method, costs=Costs(row=1, question=asking)).method

    assert method(84) == "prophetkv" and method(86) == "epic"
    assert method(86, "random") == "random"
    # where none or all are computed, nothing is asked
    costs = Costs(row=1, question=1e9)
    assert all(make_claim([found(0, 100)], 0, 400, ratio, 64, costs=costs).seconds.question == 0 for ratio in (0, 1))


def test_rows_from_pages_and_from_host_memory_have_their_own_price():
    one = found(0, 100)
    costs = Costs(row=1, filling=5, filled_row=0.1, host_row=0.2)
    assert make_claim([one], 0, 400, 0, 64, costs=costs).seconds.filling == pytest.approx(5 + 20)
    one.segment.pages = np.arange(100)
    assert make_claim([one], 0, 400, 0, 64, costs=costs).seconds.filling == pytest.approx(5 + 10)


def test_a_forward_that_reads_the_weights_takes_as_long_for_few_rows_as_for_some_more():
    # on a GPU, computing what is left after reuse takes no less than the whole of a short prompt would
    costs = Costs(row=0.01, least=5.0, filling=0.5)
    assert not make_claim([found(0, 100)], 0, 150, 0, 64, costs=costs).seconds.is_faster
    assert make_claim([found(0, 900)], 0, 950, 0, 64, costs=costs).seconds.is_faster


def test_a_claim_ends_behind_the_last_run_however_long_the_gap_before_it():
    claim = make_claim([found(0, 200), found(600, 164)], 0, 1000, 0.15, 64)
    assert (claim.end, claim.gaps) == (764, 400)
    assert make_claim([found(5000, 164)], 0, 6000, 0.15, 64).end == 5164


def test_the_question_is_what_stands_behind_the_last_segment():
    claim = make_claim([found(20, 400)], 0, 460, 0.1, 64)
    assert list(claim.question) == list(range(420, 460))
    assert list(make_claim([found(20, 400)], 0, 600, 0.1, 64).question) == list(range(600 - QUESTION_TOKENS, 600))


def test_a_question_in_front_of_the_documents_is_what_is_new():
    # after the documents, there are only a chat template's five tokens
    claim = make_claim([found(30, 200), found(240, 160)], 0, 405, 0.1, 64)
    assert claim.end == 405 - LAST_TOKENS
    tail = list(range(claim.end, 405))
    new = [*range(30), *range(230, 240)]
    assert list(claim.question) == [*new[-(QUESTION_TOKENS - len(tail)) :], *tail]


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_ratios_at_the_ends_compute_none_or_all(ratio):
    claim = make_claim([found(0, 100, True), found(100, 100)], 0, 400, ratio, 64)
    assert claim.budget == ratio * 100


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        (range(3, 20), range(3, 20)),
        (range(3, 203), range(203 - QUESTION_TOKENS, 203)),
        (range(5, 5), range(400 - QUESTION_TOKENS, 400)),
        (None, range(400 - QUESTION_TOKENS, 400)),
    ],
)
def test_the_question_is_where_the_request_says_else_what_is_new_at_the_end(asked, question):
    claim = make_claim([found(40, 200)], 0, 400, 0.15, 32, asked=asked)
    assert list(claim.question) == list(question)
