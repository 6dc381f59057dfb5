"""Models that people serve, in small: the layers and rotary embeddings of their families, with random weights."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from reuse_model import ReusingEngine

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


def describe(folder: Path, kind: str, changed: dict[str, Any]) -> Any:
    """Writes a model's configuration to a folder, and returns it. Has vLLM look at the model's class in this process."""
    import transformers
    from vllm import ModelRegistry

    config_class = getattr(transformers, kind)
    config = config_class(**{**_SIZES, **changed})
    architecture = transformers.MODEL_FOR_CAUSAL_LM_MAPPING[config_class].__name__
    config.architectures = [architecture]
    config.save_pretrained(folder)
    # otherwise a new process looks at it, which takes 10 s
    ModelRegistry.register_model(architecture, ModelRegistry.models[architecture].load_model_cls())
    return config


def make_served_model(folder: Path, kind: str, changed: dict[str, Any]) -> Callable[..., torch.Tensor]:
    """Makes a model, and returns how its family's implementation in transformers turns keys.

    That takes keys [n, heads, head size] and by how many positions each turns (int64 [n]).
    """
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(describe(folder, kind, changed)).float()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # small weights give nearly the same answer to every prompt, norms and biases that are left out must show
            deviation = weights.shape[-1] ** -0.5 if weights.dim() > 1 else 0.3
            weights.normal_(1.0 if "norm" in name else 0.0, deviation)
    model.save_pretrained(folder)
    rotary, turn_both = model.model.rotary_emb, sys.modules[type(model).__module__].apply_rotary_pos_emb

    def turn(keys: torch.Tensor, distances: torch.Tensor) -> torch.Tensor:
        cos, sin = (table / rotary.attention_scaling for table in rotary(keys, distances[None]))
        by_head = keys.transpose(0, 1)[None]
        return turn_both(by_head, by_head, cos, sin)[1][0].transpose(0, 1)

    return turn


def start_quickly(start: Callable[[], Any]) -> Any:
    """Runs what starts or ends an engine without vLLM's nine full garbage collections, of half a second each."""
    with patch.object(gc, "collect", return_value=0):
        return start()
