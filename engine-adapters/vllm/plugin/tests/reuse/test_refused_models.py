"""Models and engines in which keys cannot be moved, or not yet: the plugin says why, and vLLM serves as without it."""

from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from engine_config import make_config
from listening import listening
from reuse_model import ReusingEngine
from reuse_prompts import OTHER
from served_models import describe, start_quickly
from vllm.config.cache import CacheDType
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    KVCacheSpec,
    MambaSpec,
    SlidingWindowSpec,
)

from reprise_settings import NotSupportedError
from reprise_vllm.engine.supported import AS_COMPUTED, check_config, layer_groups

_ROPE = {"rope_theta": 10_000.0}
_LONG = {"short_factor": [1.0] * 16, "long_factor": [2.0] * 16, "original_max_position_embeddings": 1024}
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
_STATES = {
    "linear_num_key_heads": 1, "linear_num_value_heads": 2, "linear_key_head_dim": 64, "linear_value_head_dim": 64,
    "layer_types": ["linear_attention", "full_attention"],
}  # fmt: skip
_LATENT = {
    "num_key_value_heads": 4, "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 32, "qk_rope_head_dim": 64,
    "v_head_dim": 32, "n_routed_experts": 4, "first_k_dense_replace": 2,
}  # fmt: skip
_DRAFTS = {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 3}
_SHORT = {"max_model_len": 1024}
_STATE = "layers with states, latent keys or chunks have no keys to move"
_NO_TABLE = "no rotary embedding with one table"

# the configuration's class, what differs, what the engine is started with, and what is said
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a layer without rotary embedding (Granite)": (
        "GraniteConfig", {"layer_rope_theta": [10_000.0, 0]}, {}, "of 2 layers only 1 turn their keys"),
    "models run through Transformers (SmolLM3)": ("SmolLM3Config", {"no_rope_layers": [1, 0]}, {}, _NO_TABLE),
    "LongRoPE (Phi-3.5)": (
        "Phi3Config", {**_LONG, "rope_parameters": {"rope_type": "longrope", **_ROPE, **_LONG}}, {}, _NO_TABLE),
    "ALiBi (BLOOM)": ("BloomConfig", {"n_layer": 2, "n_head": 4}, {}, "ALiBi is not supported"),
    "capped logits (Gemma 2)": (
        "Gemma2Config", {"layer_types": ["full_attention"] * 2}, {}, "capped attention logits are not supported"),
    "windows and wider heads beside them (Gemma 4)": (
        "Gemma4TextConfig",
        {
            "layer_types": ["sliding_attention", "full_attention"], "num_kv_shared_layers": 0, "global_head_dim": 64,
            "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 512,
        },
        _SHORT, "layers with different numbers or sizes of heads"),
    "NoPE beside windows (Command R7B)": (
        "Cohere2Config", {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 64}, {},
        "keys of layer 1 turned to another place are off"),
    "chunks (Llama 4)": (
        "Llama4TextConfig", {"num_local_experts": 2, "attention_chunk_size": 64}, {}, "ChunkedLocalAttentionSpec"),
    "states beside full attention (Qwen3-Next)": (
        "Qwen3NextConfig",
        {**_STATES, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
         "shared_expert_intermediate_size": 64},
        {"dtype": "bfloat16"}, _STATE),
    "states beside full attention (Granite 4-H)": (
        "GraniteMoeHybridConfig",
        {"layer_types": ["mamba", "attention"], "num_local_experts": 0, "mamba_n_heads": 8, "mamba_d_head": 32,
         "mamba_n_groups": 1, "shared_intermediate_size": 128},
        {}, _STATE),
    "latent keys and values (DeepSeek)": (
        "DeepseekV2Config", _LATENT, _SHORT, "no keys to move (MLAAttentionSpec)"),
    "states beside full attention (Qwen3.5)": (
        "Qwen3_5TextConfig", _STATES, {"dtype": "bfloat16"}, _STATE),
}  # fmt: skip


@pytest.mark.parametrize("model", REFUSED)
def test_it_says_why_nothing_is_reused_and_the_engine_answers(tmp_path: Path, caplog, model: str) -> None:
    kind, changed, options, reason = REFUSED[model]
    describe(tmp_path, kind, changed)
    with listening(caplog):
        engine = start_quickly(lambda: ReusingEngine(tmp_path, {"host_bytes": 8 << 20}, load_format="dummy", **options))
    said = {one.getMessage() for one in caplog.records if "nothing is reused" in one.getMessage()}
    assert len(said) == 1 and reason in said.pop()
    assert engine.side is None or engine.side.offer is None
    assert len(engine.ask([OTHER])[0].token_ids) == 4
    start_quickly(engine.core.shutdown)


def test_an_engine_that_drafts_is_refused(folder: Path) -> None:
    # by its configuration: once one has started, vLLM starts no other in the same process
    with pytest.raises(NotSupportedError, match="speculative decoding is not supported"):
        check_config(make_config(folder, speculative_config=_DRAFTS))


def test_an_engine_that_tells_the_experts_of_each_token_is_refused(folder: Path) -> None:
    config = make_config(folder)
    config.aux_output_config.enable_return_routed_experts = True
    with pytest.raises(NotSupportedError, match="routed experts"):
        check_config(config)


@pytest.mark.parametrize("name", sorted(set(get_args(CacheDType)) - {*AS_COMPUTED, "fp8", "fp8_e4m3", "fp8_e5m2"}))
def test_keys_that_are_neither_as_computed_nor_in_fp8_are_refused(folder: Path, name: str) -> None:
    config = make_config(folder)
    config.cache_config.cache_dtype = name
    with pytest.raises(NotSupportedError, match=f"a KV cache in {name} is not supported"):
        check_config(config)


def refuse(says: str, *specs: KVCacheSpec) -> None:
    groups = [KVCacheGroupSpec([f"layer.{i}"], spec) for i, spec in enumerate(specs)]
    with pytest.raises(NotSupportedError, match=says):
        layer_groups(KVCacheConfig(num_blocks=2, kv_cache_tensors=[], kv_cache_groups=groups))


def test_states_alone_are_refused():
    # vLLM's build for CPUs computes no Mamba
    refuse(_STATE, MambaSpec(block_size=32, shapes=((16, 4),), dtypes=(torch.float32,)))


def test_fp8_beside_windows_is_refused():
    shape = {"block_size": 32, "num_kv_heads": 1, "head_size": 64, "dtype": torch.uint8}
    says = "a KV cache in fp8 is not supported beside layers with windows"
    refuse(says, FullAttentionSpec(**shape), SlidingWindowSpec(**shape, sliding_window=64))
