"""Models that people serve, in small: the layers and rotary embeddings of their families, with random weights."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

_SIZES = {
    "vocab_size": 512, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 4096, "bos_token_id": 0, "eos_token_id": 1,
    "pad_token_id": 2,
}  # fmt: skip
_EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 64}


def _rope(**parameters: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, **parameters}}


# the class of the configuration, and what differs from the sizes above
SERVED: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("LlamaConfig", {}),
    "Llama 3 scaling": ("LlamaConfig", _rope(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=512,
    )),
    "YaRN": ("LlamaConfig", _rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=1024)),
    "linear scaling": ("LlamaConfig", _rope(rope_type="linear", factor=4.0)),
    "Qwen3": ("Qwen3Config", {}),
    "Qwen3-MoE": ("Qwen3MoeConfig", {"num_experts": 4, **_EXPERTS}),
    "Qwen2": ("Qwen2Config", {}),
    "Mistral": ("MistralConfig", {"sliding_window": None}),
    "GLM-4": ("Glm4Config", _rope(partial_rotary_factor=0.5)),
    "Phi-4": ("Phi3Config", _rope(partial_rotary_factor=0.75)),
    "Granite 3": ("GraniteConfig", {
        "attention_multiplier": 1 / 16, "residual_multiplier": 0.5, "embedding_multiplier": 3.0, "logits_scaling": 2.0,
    }),
    "MiniMax-M2": ("MiniMaxM2Config", {
        "num_local_experts": 4, "num_experts_per_tok": 2, "scoring_func": "softmax", "use_routing_bias": True,
        "rotary_dim": 16, **_rope(partial_rotary_factor=0.5),
    }),
}  # fmt: skip


_WINDOW = 64
_WINDOWS = {"sliding_window": _WINDOW, "num_hidden_layers": 3}
_IN_TURNS = ["sliding_attention", "full_attention", "sliding_attention"]
_TWO_TABLES = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1_000_000.0},
}
# some layers see the last 64 tokens only
WINDOWED: dict[str, tuple[str, dict[str, Any]]] = {
    "Gemma 3": ("Gemma3TextConfig", {**_WINDOWS, "layer_types": _IN_TURNS, "rope_parameters": _TWO_TABLES}),
    "gpt-oss": ("GptOssConfig", {
        **_WINDOWS, "layer_types": _IN_TURNS, "num_local_experts": 4, "num_experts_per_tok": 2, **_rope(
            rope_type="yarn", factor=4.0, original_max_position_embeddings=1024, beta_fast=32.0, beta_slow=1.0,
            truncate=False,
        )}),
    "gpt-oss without windows": ("GptOssConfig", {
        "sliding_window": None, "num_local_experts": 4, "num_experts_per_tok": 2, **_rope(
            rope_type="yarn", factor=4.0, original_max_position_embeddings=1024, beta_fast=32.0, beta_slow=1.0,
            truncate=False,
        )}),
    "Mistral with windows alone": ("MistralConfig", {"sliding_window": 4 * _WINDOW}),
}  # fmt: skip


_SEEN = {"image_token_id": 512, "video_token_id": 513, "vision_start_token_id": 514, "vision_end_token_id": 515}
_EYES = {"depth": 2, "hidden_size": 64, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 128}


def _seeing(rope: dict[str, Any], eyes: dict[str, Any]) -> dict[str, Any]:
    words = {**_SIZES, "vocab_size": 516, **_rope(**rope)}
    return {"text_config": words, "vision_config": {**_EYES, **eyes}, **_SEEN}


# they read and see; text has ids below 512
SEEING: dict[str, tuple[str, dict[str, Any]]] = {
    "Qwen2.5-VL": ("Qwen2_5_VLConfig", _seeing(
        {"mrope_section": [4, 6, 6]}, {"window_size": 112, "fullatt_block_indexes": [1]},
    )),
    "Qwen3-VL": ("Qwen3VLConfig", _seeing(
        {"mrope_section": [6, 5, 5], "mrope_interleaved": True},
        {"deepstack_visual_indexes": [0], "num_position_embeddings": 64},
    )),
}  # fmt: skip


def describe(folder: Path, kind: str, changed: dict[str, Any]) -> Any:
    """Writes a model's configuration to a folder, and returns it. vLLM looks at the model's class in this process."""
    import transformers
    from vllm import ModelRegistry

    config_class = getattr(transformers, kind)
    sees = "vision_config" in changed
    config = config_class(**changed) if sees else config_class(**{**_SIZES, **changed})
    models = transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING if sees else transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    architecture = models[config_class].__name__
    config.architectures = [architecture]
    config.save_pretrained(folder)
    if sees:
        _describe_processor(folder, kind)
    # otherwise a new process looks at it, which takes 10 s
    ModelRegistry.register_model(architecture, ModelRegistry.models[architecture].load_model_cls())
    return config


def _describe_processor(folder: Path, kind: str) -> None:
    """Writes what turns texts and images into tokens. Its words are `w0`, `w1`, …"""
    import transformers

    names = ["<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"]
    words = ["<|endoftext|>", *(f"w{number}" for number in range(1, 512)), *names]
    tokenizer = transformers.Qwen2Tokenizer(
        vocab={word: number for number, word in enumerate(words)}, merges=[], unk_token=words[0], eos_token=words[0],
        pad_token=words[0], additional_special_tokens=names,
    )  # fmt: skip
    is_newer = kind == "Qwen3VLConfig"
    processor = transformers.Qwen3VLProcessor if is_newer else transformers.Qwen2_5_VLProcessor
    videos = transformers.Qwen3VLVideoProcessor if is_newer else transformers.Qwen2VLVideoProcessor
    images = transformers.Qwen2VLImageProcessor(patch_size=16 if is_newer else 14)
    processor(image_processor=images, tokenizer=tokenizer, video_processor=videos()).save_pretrained(folder)


def make_served_model(folder: Path, kind: str, changed: dict[str, Any]) -> Callable[..., torch.Tensor]:
    """Makes a model, and returns how its family's implementation in transformers turns keys.

    That takes a layer, keys [n, heads, head size] and by how many positions each turns (int64 [n]).
    """
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    torch.manual_seed(0)
    config = describe(folder, kind, changed)
    model = (AutoModelForImageTextToText if config.sub_configs else AutoModelForCausalLM).from_config(config).float()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # small weights give nearly the same answer to every prompt, norms and biases that are left out must show
            deviation = weights.shape[-1] ** -0.5 if weights.dim() > 1 else 0.3
            weights.normal_(1.0 if "norm" in name else 0.0, deviation)
    model.save_pretrained(folder)
    text = getattr(model.model, "language_model", model.model)
    rotary, turn_both = text.rotary_emb, sys.modules[type(model).__module__].apply_rotary_pos_emb

    def turn(layer: int, keys: torch.Tensor, distances: torch.Tensor) -> torch.Tensor:
        if hasattr(rotary, "attention_scaling"):
            scaling, tables = rotary.attention_scaling, rotary(keys, distances[None])
        else:
            of = text.config.layer_types[layer]
            scaling, tables = getattr(rotary, f"{of}_attention_scaling"), rotary(keys, distances[None], of)
        cos, sin = (table / scaling for table in tables)
        by_head = keys.transpose(0, 1)[None]
        return turn_both(by_head, by_head, cos, sin)[1][0].transpose(0, 1)

    return turn


IN_FP8 = {f"Qwen3 with {name}": name for name in ("fp8", "fp8_e5m2")}
"""the format of the KV cache"""
ALL = {**SERVED, **WINDOWED, **SEEING, **dict.fromkeys(IN_FP8, SERVED["Qwen3"])}


def options_of(kind: str) -> dict[str, Any]:
    """Returns what an engine of such a model is started with."""
    seeing = {"skip_tokenizer_init": False} if kind in SEEING else {}
    return {**seeing, "kv_cache_dtype": IN_FP8.get(kind, "auto")}


def start_quickly(start: Callable[[], Any]) -> Any:
    """Runs what starts or ends an engine without vLLM's nine full garbage collections, of 0.3 s each."""
    with patch.object(gc, "collect", return_value=0):
        return start()
