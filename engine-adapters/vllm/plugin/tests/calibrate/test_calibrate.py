"""Calibration records what serving would judge, resumes where it ended, and serving reads its thresholds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages_engine import BLOCK, prompt
from reuse_model import ON_A_GPU, VOCABULARY, make_model

from reprise_settings.page_settings import PageSettingError
from reprise_vllm.calibrate.__main__ import main
from reprise_vllm.calibrate.prompts import read_prompts
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.thresholds import CalibrationError, Recorded, read_thresholds, thresholds_of

TOKENS = 100
PROMPTS = [prompt(seed, 40 + 30 * seed) for seed in range(5)]
ENGINE = {
    "skip_tokenizer_init": True, "dtype": "float32", "block_size": BLOCK, "enforce_eager": True, "max_model_len": 2048,
    "num_gpu_blocks_override": 200, "max_num_batched_tokens": 64, "max_num_seqs": 3, "max_logprobs": VOCABULARY,
    **ON_A_GPU,
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("calibrate") / "model")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shuts the command's engine down after the test."""
    import vllm
    from vllm.v1.attention import selector

    engines: list[Any] = []
    made = vllm.LLM

    def make(*arguments: Any, **options: Any) -> Any:
        selector._cached_get_attn_backend.cache_clear()
        engines.append(made(*arguments, **options))
        return engines[-1]

    monkeypatch.setattr(vllm, "LLM", make)
    yield
    for engine in engines:
        engine.llm_engine.engine_core.engine_core.shutdown()


def calibrate(model: Path, folder: Path, prompts: list[list[int]], *more: str) -> int:
    asked = folder / "asked.jsonl"
    asked.write_text("".join(json.dumps({"prompt": one}) + "\n" for one in prompts))
    options = ["--model", str(model), "--out", str(folder), "--tokens", str(TOKENS), "--engine", json.dumps(ENGINE)]
    return main([str(asked), *options, *more])


def true_pages(model: Path) -> list[list[tuple[float, float]]]:
    """Returns the pages of the same answers, computed from all log probabilities that vLLM returns."""
    from vllm import LLM, SamplingParams

    llm = LLM(model=str(model), **ENGINE)
    sampling = SamplingParams(temperature=0, max_tokens=TOKENS, seed=0, detokenize=False, logprobs=VOCABULARY)
    outputs = llm.generate([{"prompt_token_ids": one} for one in PROMPTS], sampling, use_tqdm=False)
    pages = []
    for output in outputs:
        # the first token comes from the prefill
        logs = [np.array([one.logprob for one in step.values()]) for step in output.outputs[0].logprobs[1:]]
        entropies = np.array([-(np.exp(log) * log).sum() for log in logs])
        full = entropies[: len(entropies) // BLOCK * BLOCK].reshape(-1, BLOCK)
        pages.append(list(zip(full.mean(1), full.var(1), strict=True)))
    llm.llm_engine.engine_core.engine_core.shutdown()
    return pages


def test_entropies_are_those_of_all_log_probabilities_page_by_page(model, tmp_path):
    assert calibrate(model, tmp_path, PROMPTS) == 0
    lines = [json.loads(line) for line in (tmp_path / "recorded.jsonl").read_text().splitlines()[1:]]
    expected = true_pages(model)
    # more prompts than batch rows, prefilled in chunks: rows move, and each has its own figures
    for line, pages in zip(lines, expected, strict=True):
        assert np.allclose(line["pages"], pages, rtol=1e-3, atol=1e-4)
    found = json.loads((tmp_path / "thresholds.json").read_text())
    assert found["recorded_pages"] == sum(map(len, expected)) and found["prompts"] == len(PROMPTS)
    settings = PageSettings.read({"pages": {"every": 0, "thresholds": str(tmp_path / "thresholds.json")}})
    assert (settings.max_entropy, settings.max_varentropy) == (found["max_entropy"], found["max_varentropy"])
    assert settings.backtracks


def test_a_run_goes_on_where_one_ended(model, tmp_path, capsys):
    assert calibrate(model, tmp_path, PROMPTS[:2]) == 0
    recorded = tmp_path / "recorded.jsonl"
    before = recorded.read_text()
    recorded.write_text(before + '{"prompt": "half a li')
    # one of them appears twice
    assert calibrate(model, tmp_path, [*PROMPTS[:4], PROMPTS[3]], "--batch", "1") == 0
    assert "2 of 2 prompts" in capsys.readouterr().err
    assert recorded.read_text().startswith(before) and len(recorded.read_text().splitlines()) == 5


def test_other_figures_are_not_mixed_with_what_is_recorded(tmp_path):
    Recorded(tmp_path / "recorded.jsonl", {"model": "a"}).add("one", [(1.0, 2.0)])
    assert Recorded(tmp_path / "recorded.jsonl", {"model": "a"}).has("one")
    with pytest.raises(CalibrationError, match="name another folder"):
        Recorded(tmp_path / "recorded.jsonl", {"model": "b"})


@given(st.lists(st.tuples(st.floats(0, 12), st.floats(0, 20)), min_size=2, max_size=200), st.sampled_from([50, 90, 99]))
def test_no_more_pages_exceed_a_percentile_than_it_says(pages, percentile):
    figures = np.array(pages)
    found = thresholds_of(figures, percentile)
    for name, column in (("max_entropy", 0), ("max_varentropy", 1)):
        assert (figures[:, column] > found[name]).mean() <= 1 - percentile / 100 + 1 / len(pages)
    assert found["pages_above_both"] <= 1 - percentile / 100 + 1 / len(pages)


def test_prompts_are_read_from_bodies_and_traces(tmp_path):
    bodies = tmp_path / "bodies.jsonl"
    bodies.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n\n{"prompt": "text"}\n{"prompt": [1, 2]}\n')
    trace = tmp_path / "trace"
    trace.mkdir()
    (trace / "blocks.jsonl").write_text('{"id": "a", "text": "A."}\n{"id": "b", "tokens": 3}\n')
    (trace / "queries.jsonl").write_text('{"query_id": "q", "query": "Why?", "blocks": ["b", "a"]}\n')
    read = list(read_prompts([bodies, trace]))
    assert read[1:3] == ["text", [1, 2]]
    assert read[0][0]["content"] == "hi" and read[3] == [{"role": "user", "content": "A.\n\nWhy?"}]


@pytest.mark.parametrize("line", ['{"prompt": ""}', "{}", "3", "no JSON"])
def test_a_prompt_that_is_none_ends_the_command_before_an_engine_starts(tmp_path, capsys, line):
    (tmp_path / "asked.jsonl").write_text(line + "\n")
    assert main([str(tmp_path / "asked.jsonl"), "--model", "none", "--out", str(tmp_path)]) == 1
    assert "reprise_vllm.calibrate: " in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{}", '{"max_entropy": 1, "max_varentropy": "x"}', '{"max_entropy": -1}'])
def test_a_file_that_holds_no_thresholds_is_named(tmp_path, text):
    path = tmp_path / "thresholds.json"
    path.write_text(text)
    with pytest.raises(CalibrationError, match=r"thresholds\.json"):
        read_thresholds(str(path))
    with pytest.raises(PageSettingError, match=r"pages\.thresholds: "):
        PageSettings.read({"pages": {"every": 0, "thresholds": str(path)}})


def test_thresholds_stand_in_place_of_others():
    with pytest.raises(PageSettingError, match="in place of"):
        PageSettings.read({"pages": {"thresholds": "x", "max_entropy": 1, "max_varentropy": 1, "every": 0}})
    with pytest.raises(PageSettingError, match="must be a file"):
        PageSettings.read({"pages": {"thresholds": 3}})
