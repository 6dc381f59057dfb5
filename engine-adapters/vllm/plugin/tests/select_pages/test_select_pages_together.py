"""Page selection with other settings of a real engine: off, by uncertainty, for the whole model, and with reuse."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pages_engine import PagesEngine, prompt, said
from reuse_model import make_model
from vllm.distributed.kv_transfer import get_kv_transfer_group

from reprise_vllm.select_pages import check_engine
from reprise_vllm.usage.prompt_tokens_details import report_in_usage

PROMPT = prompt(3, 500)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("together") / "model")


@contextmanager
def running(model: Path, pages: dict[str, Any] | None, **more: Any) -> Iterator[PagesEngine]:
    engine = PagesEngine(model, pages, **more)
    try:
        if pages is not None:
            engine.ask([prompt(9, 200)], 0.5, tokens=3)
            assert engine.selection.is_proven, engine.selection.refusal
            engine.counts()
        yield engine
    finally:
        engine.close()


def test_without_the_operators_word_nothing_is_ours_but_a_class(model):
    with running(model, None) as engine:
        stock = said(engine.ask([PROMPT])[0])
        assert said(engine.ask([PROMPT], 0.1)[0]) == stock
        assert engine.worker is None


@pytest.mark.parametrize(("most", "choices"), [(0.0, 4), (500.0, 1)])
def test_pages_are_chosen_anew_behind_pages_of_uncertain_tokens_alone(model, most, choices):
    settings = {"every": 0, "max_entropy": most, "max_varentropy": 0.0 if most == 0 else most}
    with running(model, settings) as engine:
        # four pages fill, but the first one before 32 generated tokens were seen
        report_in_usage()
        output = engine.llm.generate({"prompt_token_ids": PROMPT}, engine.sampling(0.25, 130), use_tqdm=False)[0]
        counts, details = engine.counts(), output.num_cached_tokens.details
        assert counts["pages_choices", "made"] == details["page_choices"] == choices
        assert counts["pages_choices", "backtracks"] == details["page_backtracks"] == choices - 1


def test_thresholds_are_read_at_the_start_alone_and_a_fault_in_judging_by_them_ends_selection(
    model, tmp_path, monkeypatch
):
    thresholds = tmp_path / "thresholds.json"
    thresholds.write_text(json.dumps({"max_entropy": 0.0, "max_varentropy": 0.0}))
    with running(model, {"every": 0, "thresholds": str(thresholds)}) as engine:
        thresholds.unlink()
        answer = said(engine.ask([PROMPT], 0.25)[0])
        assert engine.selection.refusal is None and engine.counts()["pages_choices", "made"] > 0
        monkeypatch.setattr(engine.worker.uncertain, "follow", lambda *given: 1 / 0)
        assert len(said(engine.ask([PROMPT], 0.25)[0])) == len(answer)
        assert engine.selection.refusal == "fault" and engine.counts()["pages_refused", "fault"] == 1
        engine.ask([PROMPT], 0.25)
        assert engine.counts() == {("pages_stock", "fault"): 1}


@pytest.mark.parametrize("selector", ["chess", "quest"])
def test_other_selectors_list_as_many_pages(model, selector):
    with running(model, {"selector": selector, "every": 0}) as engine:
        engine.ask([PROMPT, prompt(4, 700)], 0.25, tokens=40)
        counts = engine.counts()
        assert engine.selection.refusal is None
        # a quarter, plus the pages filled since the last choice
        assert 0.25 < counts["pages_read", "listed"] / counts["pages_read", "all"] < 0.34


@pytest.fixture
def full_graphs_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a GPU on which full CUDA graphs are on: the plugin serves as if they were, and nothing captures."""
    monkeypatch.setattr(check_engine, "has_full_graphs", lambda config: True)


@pytest.mark.parametrize("selector", ["attention-mass", "chess"])
def test_with_full_graphs_answers_are_the_same_and_all_steps_read_one_table(model, selector, request):
    prompts, ratios = [PROMPT, *(prompt(30 + i, 90 + 130 * i) for i in range(4))], [0.25, None, 0.1, 0.5, 0.25]
    answers, counts, read = [], [], set()
    for _ in range(2):
        with running(model, {"selector": selector, "requests": 3}) as engine:
            metadata = engine.selection.metadata

            def watched(*given: Any, _metadata: Any = metadata, **named: Any) -> Any:
                made = _metadata(*given, **named)
                read.add((made.block_table.data_ptr(), made.seq_lens.data_ptr(), made.block_table.stride(0)))
                return made

            engine.selection.metadata = watched
            read.clear()
            # fewer and fewer run together
            outputs = engine.llm.generate(
                [{"prompt_token_ids": one} for one in prompts],
                [engine.sampling(ratio, 20 + 9 * i) for i, ratio in enumerate(ratios)],
                use_tqdm=False,
            )
            answers.append([said(output.outputs[0]) for output in outputs])
            counts.append(engine.counts())
            assert engine.selection.refusal is None
        request.getfixturevalue("full_graphs_double")
    assert answers[0] == answers[1] and counts[0] == counts[1]
    assert counts[0]["pages_read", "listed"] < counts[0]["pages_read", "all"]
    assert len(read) == 1


def test_choosing_by_torch_in_each_layer_is_refused_with_full_graphs(model, full_graphs_double):
    engine = PagesEngine(model, {"selector": "quest"})
    try:
        assert engine.worker.refusal == (
            "a choice in each layer without kernels, within full CUDA graphs, is not supported"
        )
        assert len(said(engine.ask([PROMPT], 0.25, tokens=4)[0])) == 4
    finally:
        engine.close()


@pytest.mark.parametrize("in_graphs", [False, True], ids=["eager", "full graphs"])
def test_reuse_at_any_position_and_selection_stay_out_of_each_others_way(model, in_graphs, request):
    if in_graphs:
        request.getfixturevalue("full_graphs_double")
    # however fast this machine is
    reuse = {"reuse": {"host_bytes": 8 << 20, "rows_per_step": 96, "when": "always"}}
    with running(model, {}, extra=reuse) as engine:
        documents = [prompt(20 + i, 150) for i in range(4)]
        first, other = (sum((documents[i] for i in order), prompt(1, 64)) for order in ((0, 1, 2, 3), (2, 0, 3, 1)))
        engine.ask([first], tokens=4)
        state = engine.core.scheduler.connector._on_scheduler
        assert state.is_ready and state.refusal is None
        both = {"kv_transfer_params": {"reprise": {"reuse": 1.0}}, "reprise_pages": 0.25}
        before = state.counts["tokens", "recomputed"]
        # rows are recomputed by the engine's attention, next to a sparse request that decodes
        # through stock builders: ours share the step's tables
        ((_, builder),) = get_kv_transfer_group()._on_worker.forward._builders
        assert not hasattr(builder, "selection")
        answers = engine.llm.generate(
            [{"prompt_token_ids": one} for one in (PROMPT, [*other, *prompt(2, 40)])],
            [engine.sampling(0.25, 60), engine.sampling(None, 40)],
            use_tqdm=False,
        )
        sampling = engine.sampling(None, 40)
        sampling.extra_args = both
        sparse = engine.llm.generate({"prompt_token_ids": [*other, *prompt(5, 40)]}, sampling, use_tqdm=False)
        assert state.counts["tokens", "recomputed"] > before
        assert engine.selection.refusal is None and state.refusal is None
        assert len(sparse[0].outputs[0].token_ids) == 40
        alone = engine.ask([PROMPT], 0.25, tokens=60)[0]
        assert said(answers[0].outputs[0]) == said(alone)
