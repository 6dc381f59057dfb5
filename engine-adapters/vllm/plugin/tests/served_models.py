"""Models that people serve, in small: the layers and rotary embeddings of their families, with random weights."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from families import SERVED, SIZES, WINDOWED, randomise, rope_of

_SEEN = {"image_token_id": 512, "video_token_id": 513, "vision_start_token_id": 514, "vision_end_token_id": 515}
_EYES = {"depth": 2, "hidden_size": 64, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 128}


def _seeing(rope: dict[str, Any], eyes: dict[str, Any]) -> dict[str, Any]:
    words = {**SIZES, "vocab_size": 516, **rope_of(**rope)}
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
    config = config_class(**changed) if sees else config_class(**{**SIZES, **changed})
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
    randomise(model)
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
