"""Pages read for each request are reported with its usage: in a batch, next to dense rows, and in streams."""

import math
from collections.abc import Iterator
from logging import getLogger
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pages_engine import BLOCK, PagesEngine, prompt
from reuse_model import make_model
from vllm.distributed.kv_transfer import get_kv_transfer_group

from reprise_vllm.select_pages.page_scheduler import PageScheduler
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.sparse_rows import SparseRows
from reprise_vllm.usage.figures import FIGURES, NAMED, PAGE_FIGURES, RECOMPUTED, of_prompt, take_figures
from reprise_vllm.usage.prompt_tokens_details import CachedTokens, report_in_usage

NAMES, SLOTS = 4, 2


def request(name: str, **asked: Any) -> Any:
    sampling = SimpleNamespace(extra_args=asked or {"reprise_pages": 0.5})
    return SimpleNamespace(request_id=name, sampling_params=sampling, num_prompt_tokens=9, _block_hasher=None)


def page_scheduler() -> PageScheduler:
    return PageScheduler(PageSettings(), getLogger("test"))


actions = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, NAMES - 1)),
        # only "end" finishes a request; a request added again after "preempt" continues
        st.tuples(st.sampled_from(["preempt", "end"]), st.integers(0, NAMES - 1)),
        st.tuples(st.just("step"), st.integers(0, 9)),
    ),
    max_size=60,
)


@settings(deadline=None)
@given(actions)
@example([("add", 0), ("add", 1), ("end", 0), ("preempt", 1), ("add", 1), ("end", 1)])
def test_figures_are_added_up_over_all_stays_of_a_request(done):
    """Each name stands for a batch row. A request that ends gets its figures from the report of its own last step."""
    rows, book = SparseRows(SLOTS, NAMES), page_scheduler()
    ended, counted, number = [], {}, dict.fromkeys(range(NAMES), 0)

    def name(place: int) -> str:
        return f"{place}-{number[place]}"

    def count(amount: int) -> None:
        for place in range(NAMES):
            slot = rows._slot_of[place]
            if slot >= 0:
                rows.figures[slot] += [amount, 2 * amount, 1, 0]
                counted[name(place)] = counted.get(name(place), 0) + amount

    for what, value in done:
        if what == "add" and rows._slot_of[value] < 0:
            if name(value) not in counted:
                book.begin(request(name(value)))
                counted[name(value)] = 0
            rows.add(value, 0.5, name(value))
        elif what == "preempt":
            rows.remove(value)
        elif what == "step":
            count(value)
            book.heard(rows.take_figures())
        elif what == "end" and name(value) in counted:
            # its last step: vLLM ends the request first, and then delivers the report
            count(1)
            figures = book.finished(request(name(value)))[PAGE_FIGURES]
            book.heard(rows.take_figures())
            ended.append((name(value), figures))
            rows.remove(value)
            number[value] += 1
    for one, figures in ended:
        total = counted[one]
        assert [figures[0], figures[1]] == [total, 2 * total]
    assert set(book._figures) <= {name(place) for place in range(NAMES)} and not book._ended


def test_of_what_a_fault_ended_nothing_is_told():
    rows, book = SparseRows(SLOTS, NAMES), page_scheduler()
    book.begin(request("one"))
    rows.add(0, 0.5, "one")
    rows.figures[:] += 5
    book.heard(rows.take_figures())
    rows.forget_figures()
    figures = book.finished(request("one"))
    book.heard(rows.take_figures())
    assert take_figures(figures) == ({}, None)


def test_of_requests_that_do_not_ask_nothing_is_kept():
    book = page_scheduler()
    asked = request("one", other=1)
    book.begin(asked)
    assert book.finished(asked) == {} and asked.sampling_params.extra_args == {"other": 1}


def test_what_others_tell_by_the_same_way_goes_on():
    params = {PAGE_FIGURES: [1, 2, 3, 4], "theirs": 5}
    assert take_figures(params) == (dict(zip(FIGURES, [1, 2, 3, 4], strict=True)), {"theirs": 5})
    assert take_figures({PAGE_FIGURES: [0, 0, 0, 0]}) == ({}, None)
    assert take_figures({"theirs": 5}) == ({}, {"theirs": 5}) and take_figures(None) == ({}, None)
    assert take_figures({RECOMPUTED: 9}) == ({"recomputed_tokens": 9}, None)
    assert of_prompt({"recomputed_tokens": 9, "all_pages": 3}) == {"recomputed_tokens": 9}


def test_tokens_that_were_cached_are_a_number_that_can_be_copied():
    import copy
    import pickle

    cached = CachedTokens(7, 2)
    cached.figures |= {"all_pages": 3}
    for one in (copy.deepcopy(cached), pickle.loads(pickle.dumps(cached))):
        assert one == 7 and one.details == {"cached_tokens": 7, "reused_tokens": 2, "all_pages": 3}
    assert not CachedTokens(0) and CachedTokens(0).details == {"cached_tokens": 0}
    assert (CachedTokens(0, 3) or 0).details["reused_tokens"] == 3


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PagesEngine]:
    report_in_usage()
    made = make_model(tmp_path_factory.mktemp("figures") / "model")
    engine = PagesEngine(made, {"min_ratio": 0.05, "requests": 3, "least_tokens": 150})
    engine.ask([prompt(99, 300)], 0.5, tokens=3)
    yield engine
    engine.close()


def ask(engine: PagesEngine, prompts: list[list[int]], ratios: list[float | None], tokens: int = 40) -> list[Any]:
    engine.forget()
    engine.counts()
    given = [{"prompt_token_ids": one} for one in prompts]
    outputs = engine.llm.generate(given, [engine.sampling(ratio, tokens) for ratio in ratios], use_tqdm=False)
    assert all(output.kv_transfer_params is None for output in outputs)
    return [output.num_cached_tokens.details for output in outputs]


def test_a_batch_is_told_request_by_request(engine):
    lengths, ratios, tokens = [400, 800, 1000, 700], [0.25, None, 0.5, 0.1], 40
    figures = ask(engine, [prompt(i, length) for i, length in enumerate(lengths)], ratios, tokens)
    assert figures[1] == {"cached_tokens": 0}
    counts = engine.counts()
    sparse = [figures[i] for i in (0, 2, 3)]
    assert sum(one["listed_pages"] for one in sparse) == counts["pages_read", "listed"]
    assert sum(one["all_pages"] for one in sparse) == counts["pages_read", "all"]
    assert sum(one["page_choices"] for one in sparse) == counts["pages_choices", "made"]
    for one, length, ratio in zip(sparse, (400, 1000, 700), (0.25, 0.5, 0.1), strict=True):
        # the first token comes from the prefill
        steps = range(length + 1, length + tokens)
        assert one["all_pages"] == sum(-(-step // BLOCK) for step in steps)
        assert one["page_choices"] == -(-len(steps) // 2) and one["page_backtracks"] == 0
        least = max(ratio * one["all_pages"], 4 * len(steps))
        assert least - len(steps) <= one["listed_pages"] <= least + 2 * len(steps)
    assert not engine.core.scheduler.connector._pages._figures


@pytest.mark.parametrize(
    ("sizes", "telling"),
    [
        ({"tensor_parallel_size": 2}, 0), ({"pipeline_parallel_size": 2}, 1),
        ({"tensor_parallel_size": 2, "pipeline_parallel_size": 2}, 2),
        ({"prefill_context_parallel_size": 2, "pipeline_parallel_size": 2}, 2),
    ],
    ids=["tensors", "stages", "both", "contexts"],
)  # fmt: skip
def test_what_every_rank_counts_is_told_by_the_first_one_of_the_last_stage(engine, monkeypatch, sizes, telling):
    # in model runner V2, requests reach the processors of the last stage alone
    connector = get_kv_transfer_group()
    connector.get_kv_connector_stats()
    parallel = connector._vllm_config.parallel_config
    for name, size in sizes.items():
        monkeypatch.setattr(parallel, name, size)
    ranks, told = math.prod(sizes.values()), {}
    # the external launcher counts them on through data-parallel replicas
    for rank in range(2 * ranks):
        monkeypatch.setattr(parallel, "rank", rank)
        engine.worker.rows.counts["pages_requests", "sparse"] += 1
        if (stats := connector.get_kv_connector_stats()) is not None:
            told[rank] = stats.data
    monkeypatch.undo()
    connector.get_kv_connector_stats()
    assert told == {
        telling: {"pages_requests/sparse": telling + 1},
        telling + ranks: {"pages_requests/sparse": ranks},
    }


def test_dense_steps_of_a_request_count_as_read(engine):
    # it becomes long enough to be sparse in the middle of its answer
    (figures,) = ask(engine, [prompt(5, 130)], [0.05], 40)
    dense = sum(-(-step // BLOCK) for step in range(131, 150))
    assert figures["all_pages"] == dense + sum(-(-step // BLOCK) for step in range(150, 170))
    assert figures["listed_pages"] == dense + engine.counts()["pages_read", "listed"]


def test_requests_that_had_to_be_dense_tell_nothing(engine):
    figures = ask(engine, [prompt(i, 300) for i in range(4)], [0.2] * 4, 20)
    assert engine.counts()["pages_stock", "too_many"] == 1
    assert sorted(len(one) for one in figures) == [1, 5, 5, 5]


def test_streams_and_samples_of_one_prompt(engine):
    """A stream takes its cached tokens from the first output. For `n` samples, no pages are reported."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    running = engine.llm.llm_engine
    firsts = {}
    for name, samples in (("one", 1), ("two", 2)):
        sampling = SamplingParams(
            temperature=0.5, n=samples, max_tokens=20, ignore_eos=True, detokenize=False,
            extra_args={"reprise_pages": 0.2}, output_kind=RequestOutputKind.DELTA,
        )  # fmt: skip
        running.add_request(name, {"prompt_token_ids": prompt(7, 300)}, sampling)
        while running.has_unfinished_requests():
            for output in running.step():
                firsts.setdefault(name, output.num_cached_tokens)
    assert firsts["one"].details["all_pages"] > 19 * 9
    assert firsts["two"].figures == {}


def test_usage_has_what_is_told():
    from vllm.entrypoints.openai.responses.protocol import InputTokensDetails
    from vllm.entrypoints.serve.engine.protocol import PromptTokenUsageInfo

    report_in_usage()
    cached = CachedTokens(0)
    cached.figures = dict(zip(FIGURES, np.arange(4).tolist(), strict=True))
    for details in (
        PromptTokenUsageInfo(cached_tokens=cached),
        InputTokensDetails(cached_tokens=cached, cache_write_tokens=0),
    ):
        assert cached.details.items() <= details.model_dump().items()
    assert NAMED not in cached.details
