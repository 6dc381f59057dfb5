"""Page selection in a real engine: all pages equal stock, fewer equal masked attention, nothing sparse is shared."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from pages_engine import BLOCK, PagesEngine, first_logprobs, prompt, said
from reuse_model import make_model

LENGTHS = [70, 130, 257, 400, 512, 777, 1000, 1300]
PROMPTS = [prompt(seed, LENGTHS[seed % len(LENGTHS)] + seed) for seed in range(50)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesEngine]:
    engine = PagesEngine(make_model(tmp_path_factory.mktemp("pages") / "model"), {"min_ratio": 0.05, "requests": 6})
    # the first sparse step is the self-test
    engine.ask([prompt(99, 300)], 0.5, tokens=3)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: PagesEngine) -> None:
    assert engine.selection.refusal is None and engine.selection.is_proven
    engine.forget()
    engine.counts()


def test_all_pages_are_stock_and_dense_rows_beside_sparse_ones_too(engine):
    # prompts are prefilled in chunks of 256, next to decoding rows
    stock = [said(answer) for answer in engine.ask(PROMPTS, tokens=24)]
    engine.forget()
    mixed = engine.ask(PROMPTS, [(1.0, 0.25, None)[i % 3] for i in range(len(PROMPTS))], tokens=24)
    counts = engine.counts()
    # preempted requests are counted again
    assert counts["pages_requests", "sparse"] + counts["pages_stock", "too_many"] >= 17
    assert counts["pages_read", "listed"] < counts["pages_read", "all"]
    dense = [i for i in range(len(PROMPTS)) if i % 3 != 1]
    assert [said(mixed[i]) for i in dense] == [stock[i] for i in dense]


def test_a_list_of_all_pages_is_stock(engine, monkeypatch):
    stock = [said(answer) for answer in engine.ask(PROMPTS[:8], tokens=24)]
    engine.forget()
    # every request is rewritten, and lists all its pages in the order of their scores
    rewrite = engine.selection.rewrite
    monkeypatch.setattr(engine.selection, "rewrite", lambda common, all_pages=False: rewrite(common, all_pages=True))
    answers = engine.ask(PROMPTS[:8], 0.25, tokens=24)
    assert engine.counts()["pages_choices", "made"] > 50
    assert [said(answer) for answer in answers] == stock


def test_a_sparse_request_is_the_same_in_a_batch_as_alone(engine):
    asked, ratios = PROMPTS[2:8], [0.1, 0.25, 0.5, 0.25, 0.1, 0.75]
    alone = []
    for one, ratio in zip(asked, ratios, strict=True):
        engine.forget()
        alone.append(engine.ask([one], ratio)[0])
    engine.forget()
    together = engine.ask([*asked, *PROMPTS[20:26]], [*ratios, *[None] * 6])[: len(asked)]
    assert [said(answer) for answer in together] == [said(answer) for answer in alone]
    for ours, theirs in zip(together, alone, strict=True):
        # only of sampled tokens, with a tolerance: the order of summation differs in a batch
        for place in (1, 20, 39):
            token = ours.token_ids[place]
            assert first_logprobs(ours, place)[token] == pytest.approx(first_logprobs(theirs, place)[token], abs=1e-3)


def test_what_the_kernel_gives_is_dense_attention_over_the_listed_pages(engine, monkeypatch):
    selection, errors, rows_at_once = engine.selection, [], set()
    in_layer, listed = selection.in_layer, []

    def watch(step: Any, index: int, query: torch.Tensor) -> None:
        in_layer(step, index, query)
        listed.append((step, index, query))

    def compare(output: torch.Tensor) -> None:
        for step, index, query in listed:
            rows_at_once.add(len(step.rows))
            for place, table in enumerate(selection.tables.blocks[step.rows]):
                expected = masked_attention(selection, index, step, query, place, table)
                got = output[int(step.queries[place])].flatten()
                errors.append(float((got - expected).abs().max() / expected.abs().max()))

    for layer in selection.layers:

        def forward(*given: Any, _impl: Any = layer.impl, **named: Any) -> Any:
            listed.clear()
            result = type(_impl).forward(_impl, *given, **named)
            compare(named["output"])
            return result

        monkeypatch.setattr(layer.impl, "forward", forward, raising=False)
    monkeypatch.setattr(selection, "in_layer", watch)
    engine.ask([PROMPTS[5], PROMPTS[6], PROMPTS[4], PROMPTS[3]], [0.1, None, 0.5, 0.25], tokens=12)
    assert len(errors) > 50 and 3 in rows_at_once
    assert max(errors) < 1e-5


def masked_attention(
    selection: Any, index: int, step: Any, query: torch.Tensor, place: int, table: torch.Tensor
) -> torch.Tensor:
    """Returns dense float64 attention over the whole context, with all pages masked that are not in the table."""
    shape = selection.shape
    row = int(step.rows[place])
    length = int(step.stock.seq_lens_cpu_upper_bound[row])
    pages = -(-length // shape.page)
    shorter = int(step.rewritten.seq_lens_cpu_upper_bound[row])
    listed = set(table[: -(-shorter // shape.page)].tolist())
    blocks = selection.tables.source[place, :pages].long()
    keys, values = selection.chooser.layout.read(selection.layers[index].kv_cache, blocks, 0, length)
    kept = torch.tensor([int(block) in listed for block in blocks]).repeat_interleave(shape.page)[:length]
    assert int(kept.sum()) == shorter
    mine = query[int(step.queries[place])].double().view(shape.heads, shape.queries, 1, shape.head_dim)
    scores = mine * shape.scale @ keys.double().permute(1, 2, 0)[:, None]
    weights = scores.masked_fill(~kept, -torch.inf).softmax(-1)
    return (weights @ values.double().transpose(0, 1)[:, None]).flatten().float()


def test_what_is_generated_under_selection_is_found_by_nobody(engine):
    for ratio in (None, 0.25):
        engine.forget()
        answer = said(engine.ask([PROMPTS[5]], ratio, tokens=100)[0])
        after = [*PROMPTS[5], *answer, *prompt(500, 20)]
        for later in (None, 0.25):
            cached = cached_tokens(engine, after, later)
            if ratio is None and later is None:
                # a stock answer is shared
                assert cached > len(PROMPTS[5]) + 64
            elif ratio is not None:
                # the part of the prompt that full attention computed is shared, but no token after it
                assert len(PROMPTS[5]) - 2 * BLOCK < cached <= len(PROMPTS[5])


def cached_tokens(engine: PagesEngine, tokens: list[int], ratio: float | None) -> int:
    """Returns how many of a prompt's tokens the prefix cache has, without changing the cache."""
    from vllm.utils.hashing import sha256
    from vllm.v1.core.kv_cache_utils import get_request_block_hasher
    from vllm.v1.request import Request

    hasher = get_request_block_hasher(BLOCK, sha256)
    request = Request("asks", tokens, engine.sampling(ratio), None, block_hasher=hasher)
    return engine.core.scheduler.kv_cache_manager.get_computed_blocks(request)[1]


def test_answers_after_sparse_turns_are_those_of_an_engine_that_never_was_sparse(engine):
    answer = said(engine.ask([PROMPTS[4]], 0.1, tokens=80)[0])
    after = [*PROMPTS[4], *answer, *prompt(501, 20)]
    later = said(engine.ask([after])[0])
    engine.forget()
    assert later == said(engine.ask([after])[0])


def test_prefix_hits_are_summarised_as_what_was_computed(engine):
    cold = said(engine.ask([PROMPTS[6]], 0.25)[0])
    warm = said(engine.ask([PROMPTS[6]], 0.25)[0])
    assert warm == cold


@pytest.mark.parametrize("ratio", ["much", -0.1, 1.5, [[0.3]]])
def test_wishes_that_cannot_be_understood_are_served_as_stock_and_counted(engine, ratio):
    stock = said(engine.ask([PROMPTS[3]])[0])
    assert said(engine.ask([PROMPTS[3]], ratio)[0]) == stock
    counts = engine.counts()
    assert counts["pages_stock", "malformed"] == 1 and counts["pages_read", "listed"] == 0


def test_a_wish_is_held_to_the_operators_bound(engine):
    engine.ask([PROMPTS[7]], 0.0)
    counts = engine.counts()
    least = 0.05 * counts["pages_read", "all"]
    assert least < counts["pages_read", "listed"] < 4 * least


def test_short_contexts_stay_dense(engine):
    stock = said(engine.ask([prompt(7, 20)], tokens=20)[0])
    assert said(engine.ask([prompt(7, 20)], 0.1, tokens=20)[0]) == stock
    assert engine.counts()["pages_read", "all"] == 0


def test_steps_that_would_save_too_little_stay_dense(engine):
    selection, asked = engine.selection, [prompt(70 + i, 600) for i in range(2)]
    stock = [said(one) for one in engine.ask(asked, tokens=4)]
    layers, pages = len(selection.layers), 600 // BLOCK
    # at 50 % both requests together leave out twice as much as one of them
    saving = (pages - pages // 2) * BLOCK * layers * 2 * selection.shape.heads * selection.shape.head_dim * 4
    settings = selection.settings
    try:
        selection.settings = replace(settings, least_saving=saving + 1)
        assert said(engine.ask(asked[:1], 0.5, tokens=4)[0]) == stock[0]
        assert engine.counts()["pages_read", "all"] == 0
        engine.ask(asked, 0.5, tokens=4)
        assert engine.counts()["pages_read", "all"] > 0
        selection.settings = replace(settings, least_saving=saving)
        engine.ask(asked[:1], 0.5, tokens=4)
        assert engine.counts()["pages_read", "all"] > 0
    finally:
        selection.settings = settings


def test_preempted_requests_go_on(engine, monkeypatch):
    preempted = 0
    stock = engine.core.scheduler._preempt_request

    def preempt(*arguments: Any, **named: Any) -> None:
        nonlocal preempted
        preempted += 1
        stock(*arguments, **named)

    monkeypatch.setattr(engine.core.scheduler, "_preempt_request", preempt)
    asked = [prompt(600 + i, 1000) for i in range(7)]
    expected = [said(one) for i, ask in enumerate(asked) if i % 2 for one in engine.ask([ask], tokens=100)]
    engine.forget()
    answers = engine.ask(asked, [0.25, None] * 3 + [0.25], tokens=100)
    assert preempted > 0
    assert [len(said(answer)) for answer in answers] == [100] * 7
    assert [said(answer) for answer in answers[1::2]] == expected
    # the runner reports finished requests only with its next batch
    engine.ask([prompt(1, 40)], tokens=2)
    assert len(engine.worker.rows) == 0
