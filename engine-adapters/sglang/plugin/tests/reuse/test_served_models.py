"""Models of the families that people serve: reuse is right, or refused by name. Last, since it starts others."""

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from families import SERVED, SIZES, WINDOWED, randomise
from reuse_prompts import Documents
from reusing_scheduler import ReusingScheduler

from reprise_reuse.costs import EVEN
from reprise_sglang.reuse import start
from reprise_sglang.reuse.usage import asked_of

pytestmark = pytest.mark.scheduler

ORDER = (3, 1, 0, 2, 4)
_LONG = {"short_factor": [1.0] * 16, "long_factor": [2.0] * 16, "original_max_position_embeddings": 1024}
REFUSED: dict[str, tuple[tuple[str, dict[str, Any]], str]] = {
    "Gemma 3": (WINDOWED["Gemma 3"], "attention over sliding windows is not supported"),
    "Command R7B": (
        ("Cohere2Config", {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 64}),
        "attention over sliding windows is not supported",
    ),
    "LongRoPE (Phi-3.5)": (
        ("Phi3Config", {**_LONG, "rope_parameters": {"rope_type": "longrope", "rope_theta": 10_000.0, **_LONG}}),
        "of 2 layers only 0 turn their keys by position",
    ),
    "run through Transformers (SmolLM3)": (
        ("SmolLM3Config", {"no_rope_layers": [1, 0]}), "its layers are not all attention over keys and values",
    ),
}  # fmt: skip


def serve(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, changed: dict[str, Any]) -> ReusingScheduler:
    torch.manual_seed(0)
    config_class = getattr(transformers, kind)
    config = config_class(**{**SIZES, **changed})
    model = transformers.AutoModelForCausalLM.from_config(config).float()
    randomise(model)
    model.save_pretrained(folder)
    monkeypatch.setattr(start, "measure_costs", lambda *_: EVEN)
    settings = '{"ratio": 0.15, "when": "always", "host_bytes": 8000000}'
    given = {"page_size": 16, "max_total_tokens": 2048, "max_running_requests": 4, "skip_tokenizer_init": True}
    return ReusingScheduler(folder, settings, **given)


@pytest.mark.parametrize("family", SERVED)
def test_reuse_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str) -> None:
    engine = serve(tmp_path, monkeypatch, *SERVED[family])
    documents = Documents(3, tokens=60, vocabulary=SIZES["vocab_size"])
    stock = engine.ask(documents.prompt(*ORDER), {"reuse": "off"}, 2)
    engine.flush()
    engine.ask(documents.prompt(), tokens=1)
    engine.forget_prefixes()

    def apart(request: Any) -> float:
        return float((engine.first_logits[request.rid] - engine.first_logits[stock.rid]).abs().max())

    again = engine.ask(documents.prompt(*ORDER), {"reuse": 1}, 2)
    assert asked_of(again).recomputed > 250 and apart(again) < 1e-4
    engine.forget_prefixes()
    some = engine.ask(documents.prompt(*ORDER), {"reuse": 0}, 2)
    assert asked_of(some).reused > 250 and apart(some) > 1e-3
    assert apart(engine.ask(documents.prompt(*ORDER), {"reuse": "off"}, 2)) < 1e-4
    # what SGLang itself has computed was like what reuse's own forward computes
    assert engine.reuser.refusal is None and not engine.reuser.counts["faults", "loading"]


@pytest.mark.parametrize("family", REFUSED)
def test_models_that_are_not_supported_are_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, family: str
) -> None:
    caplog.set_level(logging.ERROR, "reprise_sglang")
    (kind, changed), says = REFUSED[family]
    engine = serve(tmp_path, monkeypatch, kind, changed)
    assert engine.reuser is None
    assert f"reprise: nothing is reused but equal beginnings: {says}" in caplog.text
    assert engine.ask(Documents(3, tokens=20, vocabulary=SIZES["vocab_size"]).prompt(), tokens=1).finished()
