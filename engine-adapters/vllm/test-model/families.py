"""Models that people serve, in small: what their families' configurations differ in."""

from typing import Any

import torch

SIZES = {
    "vocab_size": 512, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "max_position_embeddings": 4096, "bos_token_id": 0, "eos_token_id": 1,
    "pad_token_id": 2,
}  # fmt: skip
_EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 64}


def rope_of(**parameters: Any) -> dict[str, Any]:
    return {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            **parameters,
        }
    }


# the class of the configuration, and what differs from the sizes above
SERVED: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("LlamaConfig", {}),
    "Llama 3 scaling": ("LlamaConfig", rope_of(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=512,
    )),
    "YaRN": ("LlamaConfig", rope_of(rope_type="yarn", factor=4.0, original_max_position_embeddings=1024)),
    "linear scaling": ("LlamaConfig", rope_of(rope_type="linear", factor=4.0)),
    "Qwen3": ("Qwen3Config", {}),
    "Qwen3-MoE": ("Qwen3MoeConfig", {"num_experts": 4, **_EXPERTS}),
    "Qwen2": ("Qwen2Config", {}),
    "Mistral": ("MistralConfig", {"sliding_window": None}),
    "GLM-4": ("Glm4Config", rope_of(partial_rotary_factor=0.5)),
    "Phi-4": ("Phi3Config", rope_of(partial_rotary_factor=0.75)),
    "Granite 3": ("GraniteConfig", {
        "attention_multiplier": 1 / 16, "residual_multiplier": 0.5, "embedding_multiplier": 3.0, "logits_scaling": 2.0,
    }),
    "MiniMax-M2": ("MiniMaxM2Config", {
        "num_local_experts": 4, "num_experts_per_tok": 2, "scoring_func": "softmax", "use_routing_bias": True,
        "rotary_dim": 16, **rope_of(partial_rotary_factor=0.5),
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
        **_WINDOWS, "layer_types": _IN_TURNS, "num_local_experts": 4, "num_experts_per_tok": 2, **rope_of(
            rope_type="yarn", factor=4.0, original_max_position_embeddings=1024, beta_fast=32.0, beta_slow=1.0,
            truncate=False,
        )}),
    "gpt-oss without windows": ("GptOssConfig", {
        "sliding_window": None, "num_local_experts": 4, "num_experts_per_tok": 2, **rope_of(
            rope_type="yarn", factor=4.0, original_max_position_embeddings=1024, beta_fast=32.0, beta_slow=1.0,
            truncate=False,
        )}),
    "Mistral with windows alone": ("MistralConfig", {"sliding_window": 4 * _WINDOW}),
}  # fmt: skip


def randomise(model: torch.nn.Module) -> None:
    """Gives a model random weights with which its answers depend on the whole prompt."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # small weights give nearly the same answer to every prompt, norms and biases that are left out must show
            deviation = weights.shape[-1] ** -0.5 if weights.dim() > 1 else 0.3
            weights.normal_(1.0 if "norm" in name else 0.0, deviation)
