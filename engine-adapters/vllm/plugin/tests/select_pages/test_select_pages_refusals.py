"""Models and engines in which pages cannot be left out: the plugin says why, and vLLM serves as without it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_config import full_attention, make_config
from pages_engine import PagesEngine, prompt
from served_models import describe, start_quickly

from reprise_pages.affinity import KeyAffinity
from reprise_settings import NotSupportedError
from reprise_vllm.select_pages.check_engine import check_engine

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "windows alone (Mistral 7B 0.1)": ("MistralConfig", {"sliding_window": 64}, "attention that is not full"),
    "windows beside full attention (Gemma 3)": (
        "Gemma3TextConfig", {"layer_types": ["sliding_attention", "full_attention"]}, "several kinds of layers"),
    "windows and sinks (gpt-oss)": (
        "GptOssConfig", {"num_local_experts": 4, "num_experts_per_tok": 2}, "several kinds of layers"),
    "chunks (Llama 4)": (
        "Llama4TextConfig", {"num_local_experts": 2, "attention_chunk_size": 64}, "attention that is not full"),
}  # fmt: skip


@pytest.mark.parametrize("model", REFUSED)
def test_it_says_why_no_pages_are_selected_and_the_engine_answers(tmp_path: Path, model: str) -> None:
    kind, changed, reason = REFUSED[model]
    describe(tmp_path, kind, changed)
    engine = start_quickly(lambda: PagesEngine(tmp_path, {}, load_format="dummy", max_model_len=1024))
    assert reason in engine.worker.refusal
    assert len(engine.ask([prompt(1, 200)], 0.5)[0].token_ids) > 0
    start_quickly(engine.close)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"speculative_config": {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 3}},
            "speculative",
        ),
        ({"kv_cache_dtype": "fp8"}, "a quantised KV cache"),
        ({"kv_cache_dtype": "int8_per_token_head"}, "a quantised KV cache"),
        ({"kv_cache_dtype": "turboquant_k8v4"}, "a quantised KV cache"),
    ],
)
def test_an_engine_is_refused_by_its_configuration(folder: Path, options: dict[str, Any], reason: str) -> None:
    layer = SimpleNamespace(impl=SimpleNamespace(), num_heads=2, num_kv_heads=1, head_size=64)
    check_engine(make_config(folder), full_attention(), [layer], KeyAffinity())
    config = make_config(folder, **{name: one for name, one in options.items() if name != "kv_cache_dtype"})
    config.cache_config.cache_dtype = options.get("kv_cache_dtype", "auto")
    with pytest.raises(NotSupportedError, match=reason):
        check_engine(config, full_attention(), [layer], KeyAffinity())
