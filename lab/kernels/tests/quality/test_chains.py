"""The trained model: what its numbers depend on, and that its committed weights still show the intended effects."""

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from quality.chains import pages
from quality.chains.evaluate import ACCURACY, DEVIATION, RATIOS, append, cases, done, strangers, wilson
from quality.chains.initialise import initialise
from quality.chains.model import ChainModel, ModelConfig
from quality.chains.reuse import KINDS, Case, Prompts, ask, full, neighbours, recompute, repair_and_ask
from quality.chains.tasks import (
    CHAINS,
    NAMES,
    SET,
    TASKS,
    VOCABULARY,
    Layout,
    chain_texts,
    coreference_texts,
    draw,
    training_texts,
)
from quality.chains.train import WEIGHTS, Packed, Plan, load, train
from quality.pages.selectors import SELECTORS
from quality.references import METHODS
from reprise_reuse.methods import choose

SEEDS = sorted(int(path.stem.removeprefix("seed-")) for path in WEIGHTS.glob("*.safetensors"))
HEADLINE = "two-hop"
LAYOUT = Layout()


@cache
def untrained() -> ChainModel:
    model = ChainModel(ModelConfig(VOCABULARY))
    initialise(model, 0)
    return model.requires_grad_(False)


def small_case(kind: str, batch: int = 3) -> Case:
    random = np.random.default_rng(0)
    asked = draw(HEADLINE, random, batch, LAYOUT)
    pool = chain_texts(random, 8, max(CHAINS), LAYOUT).context.reshape(-1, LAYOUT.tokens)
    prompts = Prompts(torch.from_numpy(asked.tokens), torch.from_numpy(asked.questions))
    return Case(untrained(), prompts, LAYOUT, kind, strangers(random, pool, batch, LAYOUT))


@pytest.mark.parametrize("make", [training_texts, chain_texts, coreference_texts])
@given(seed=st.integers(0, 2**32), hops=st.sampled_from(sorted(CHAINS)))
def test_answers_follow_from_the_text(make, seed, hops):
    given = (2, LAYOUT) if make is coreference_texts else (2, hops, LAYOUT)
    texts = make(np.random.default_rng(seed), *given)
    for context, questions, answers, depth, bound in zip(*texts, strict=True):
        values, steps = {}, {}
        for place in np.flatnonzero(context == SET):
            name, right = context[place + 1], context[place + 2]
            values[name], steps[name] = (values[right], steps[right] + 1) if right in NAMES else (right, 0)
            assert place + 2 in bound
        assert [values[name] for name in questions[:, 1]] == answers.tolist()
        assert [steps[name] for name in questions[:, 1]] == depth.tolist()


@given(seed=st.integers(0, 2**32))
def test_statements_of_a_chain_lie_in_different_chunks_and_whole(seed):
    texts = chain_texts(np.random.default_rng(seed), 2, max(CHAINS), LAYOUT)
    for bound in texts.bound:
        assert (bound % LAYOUT.tokens >= 2).all()
        ends = np.cumsum(CHAINS[max(CHAINS)])
        for end, length in zip(ends, CHAINS[max(CHAINS)], strict=True):
            assert (np.diff(bound[end - length : end] // LAYOUT.tokens) > 0).all()


def test_questions_asked_together_are_of_one_text_and_share_what_is_computed_again():
    random = np.random.default_rng(0)
    asked = draw("multi-query", random, 8, LAYOUT)
    tokens, questions = torch.from_numpy(asked.tokens), torch.from_numpy(asked.questions)
    assert len(tokens) == 8 and all(torch.equal(tokens[at], tokens[at // 4 * 4]) for at in range(8))
    assert len({*map(tuple, asked.questions[:4].tolist())}) == 4
    case = Case(
        untrained(), Prompts(tokens, questions), LAYOUT, "alone", strangers(random, asked.tokens[:, 1:25], 8, LAYOUT),
        together=4,
    )  # fmt: skip
    for method in ("prophetkv", "ideal", "kvshare"):
        scores = case.scores(method)
        torch.testing.assert_close(scores[1], scores[0])
        assert not torch.allclose(scores[4], scores[0])
    found = torch.from_numpy(asked.answers)
    wrong = found.clone()
    wrong[6] += 1
    assert (case.count(found, found), case.count(wrong, found)) == (2, 1)


def test_packed_questions_are_answered_as_if_each_were_asked_alone():
    texts = training_texts(np.random.default_rng(0), 2, 1, LAYOUT)
    packed = Packed(LAYOUT)
    tokens = packed.tokens(texts)
    together = untrained()(tokens, packed.positions, visible=packed.visible).hidden[:, packed.context + 8 :][:, :2]
    alone = torch.cat((tokens[:, : packed.context], tokens[:, packed.context + 8 :][:, :2]), 1)
    assert torch.allclose(together, untrained()(alone, torch.arange(alone.shape[1])).hidden[:, -2:], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_computing_everything_again_is_full_attention(kind):
    case = small_case(kind)
    chosen = torch.arange(LAYOUT.context) >= LAYOUT.tokens
    again = recompute(case.model, case.held.cache, case.prompts.tokens, chosen.expand(3, -1))
    for rows, exact in zip(again, case.exact, strict=True):
        assert torch.allclose(rows[:, :, : 1 + LAYOUT.context], exact[:, :, : 1 + LAYOUT.context], atol=1e-4)
    assert torch.allclose(ask(case.model, again, case.prompts).attention, case.whole.attention, atol=1e-4)
    assert torch.equal(case.repaired(case.scores("random"), 1.0), case.whole.answers)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_chunk_and_the_first_layer_are_exact_in_every_kind(kind):
    case, end = small_case(kind), 1 + LAYOUT.tokens
    for rows, exact in zip(case.held.cache, case.exact, strict=True):
        assert torch.allclose(rows[:, :, :end], exact[:, :, :end], atol=1e-4)
        assert torch.allclose(rows[0], exact[0], atol=1e-4)
        assert not torch.allclose(rows[1], exact[1], atol=1e-2)
    spread = case.held.spread
    assert (spread[:, LAYOUT.tokens :] > 0).all() if kind == "averaged" else (spread == 0).all()


@given(seed=st.integers(0, 2**32), slices=st.integers(2, 7))
@settings(max_examples=4)
def test_recompute_in_slices_is_recompute_in_one_go(seed, slices):
    case = small_case("alone")
    scores = torch.rand((3, LAYOUT.context), generator=torch.Generator().manual_seed(seed))
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(1, scores.topk(20).indices, True)
    once = recompute(case.model, case.held.cache, case.prompts.tokens, chosen)
    sliced = recompute(case.model, case.held.cache, case.prompts.tokens, chosen, slices)
    for one, other in zip(once, sliced, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_repairing_and_asking_in_one_forward_is_one_after_the_other(kind):
    case = small_case(kind)
    scores = case.scores("value-deviation")
    best = torch.stack([choose(score, torch.arange(LAYOUT.context), 30) for score in scores])
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, best, True)
    again = recompute(case.model, case.held.cache, case.prompts.tokens, chosen)
    together = repair_and_ask(case.model, case.held.cache, case.prompts, chosen)
    assert torch.equal(together, ask(case.model, again, case.prompts).answers)
    untouched = small_case(kind).held.cache
    for rows, kept in zip(case.held.cache, untouched, strict=True):
        assert torch.equal(rows[:, :, : 1 + LAYOUT.context], kept[:, :, : 1 + LAYOUT.context])


def test_neighbours_share_the_most_names_and_are_never_the_chunk_itself():
    a, b, c = NAMES[0], NAMES[1], NAMES[2]
    chunks = torch.tensor([[[a, b, SET], [c, SET, SET], [a, b, c], [SET, SET, b]]])
    assert neighbours(chunks).tolist() == [[[2, 3], [2, 0], [0, 1], [0, 2]]]


def test_training_is_the_same_for_the_same_seed():
    plan = Plan(steps=3, batch=2)
    (first, _), (second, _), (other, _) = (train(seed, plan, LAYOUT, lambda _: None) for seed in (0, 0, 1))
    for one, two in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, two)
    assert not torch.equal(first.embedding.weight, other.embedding.weight)


@cache
@torch.inference_mode()
def right(kind: str, samples: int) -> dict[str, np.ndarray]:
    """Returns each seed's share of correct answers: full attention, plain reuse, and some methods at 15 %."""
    shares: dict[str, list[float]] = {}
    for seed in SEEDS:
        found: dict[str, list[torch.Tensor]] = {}
        for case, answers in cases(seed, HEADLINE, kind, samples):
            found.setdefault("full", []).append(case.whole.answers == answers)
            found.setdefault("naive", []).append(case.naive.answers == answers)
            for method in ("attention-spread", "prophetkv", "random"):
                found.setdefault(method, []).append(case.repaired(case.scores(method), 0.15) == answers)
        for key, parts in found.items():
            shares.setdefault(key, []).append(torch.cat(parts).float().mean().item())
    return {key: np.array(of_seeds) for key, of_seeds in shares.items()}


def test_there_are_three_seeds_of_four_megabytes_at_most():
    assert len(SEEDS) >= 3
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= 4 * 2**20


def test_the_committed_weights_answer_and_plain_reuse_of_chunks_encoded_alone_does_not():
    shares = right("alone", 128)
    assert (shares["full"] >= 0.95).all()
    assert (shares["naive"] < shares["full"] / 2).all()


@pytest.mark.parametrize(("kind", "samples"), [("alone", 128), ("averaged", 32)])
def test_what_the_question_looks_at_repairs_more_than_chance_does(kind, samples):
    shares = right(kind, samples)
    assert shares["prophetkv"].mean() > shares["random"].mean() + 0.2
    assert shares["attention-spread"].mean() > shares["random"].mean() + 0.2


def test_weights_are_read_as_they_were_trained():
    model, layout = load(SEEDS[0])
    assert layout == LAYOUT and model.config == ModelConfig(VOCABULARY)


def test_intervals_hold_the_share_and_stay_within_0_and_1():
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-9) and wilson(10, 10)[1] == pytest.approx(1)
    low, high = wilson(256, 512)
    assert (low, high) == pytest.approx((0.457, 0.543), abs=1e-3)


def test_a_measurement_goes_on_where_it_was_stopped_and_its_report_holds_every_method(tmp_path):
    accuracy = tmp_path / "accuracy.csv"
    assert done(accuracy) == set()
    for seed, share in ((0, 5), (1, 7)):
        rows = [(seed, TASKS[0], "alone", method, ratio, share, 10, 0, 1) for method in METHODS for ratio in RATIOS]
        append(accuracy, ACCURACY, [*rows, (seed, TASKS[0], "alone", "full attention", 1.0, 10, 10, 0, 1)])
        append(tmp_path / "deviation.csv", DEVIATION, [(seed, TASKS[0], "alone", layer, 0.25) for layer in range(2)])
    assert done(accuracy) == {("0", TASKS[0], "alone"), ("1", TASKS[0], "alone")}
    report = pytest.importorskip("quality.chains.report", reason="matplotlib is the extra `quality`")
    text = report.tables(report.read(tmp_path), tmp_path)
    for method in METHODS:
        assert f"| alone | {method.ljust(16)} | 60.0 | 60.0 |" in text


@pytest.mark.parametrize("name", [*SELECTORS, pages.ORACLE])
def test_a_step_that_reads_all_pages_answers_as_full_attention(name):
    random = np.random.default_rng(1)
    asked = draw(HEADLINE, random, 3, LAYOUT)
    prompts = Prompts(torch.from_numpy(asked.tokens), torch.from_numpy(asked.questions))
    model, _ = load(SEEDS[0])
    with torch.inference_mode():
        whole = ask(model, full(model, prompts), prompts).answers
        assert torch.equal(pages.answers(model, prompts, name, 1.0), whole)


def test_the_pages_with_the_true_mass_hold_the_answer_and_pages_at_random_do_not():
    counted = {}
    for name, ratio, right in pages.measure(SEEDS[0], "direct", 32):
        counted[name, ratio] = right
    assert counted[pages.ORACLE, 0.25] >= 31
    assert counted["random", 0.25] < 24 < counted["attention-mass", 0.25]
