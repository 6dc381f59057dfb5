"""Small models of random weights whose layers see windows, or keep states, beside full attention."""

from pathlib import Path
from typing import Any

import torch

VOCABULARY = 4096
WINDOW = 96
_SIZES = {
    "vocab_size": VOCABULARY, "max_position_embeddings": 16_384, "bos_token_id": 0, "eos_token_id": 1,
    "pad_token_id": 2, "hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 64,
}  # fmt: skip


def make_checkpoint_model(folder: Path, kind: str) -> Path:
    """kind: `gemma3` (windows), `qwen3_5` (states, which vLLM computes in bfloat16 only), `llama` (full attention)"""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(0)
    config = {"gemma3": _gemma3, "qwen3_5": _qwen3_5, "llama": _llama}[kind]()
    model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16 if kind == "qwen3_5" else torch.float32)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # small weights give nearly the same answer to every prompt
            if weights.dim() >= 2 and not any(part in name for part in ("norm", "A_log", "conv1d")):
                weights.normal_(0, weights.shape[-1] ** -0.5)
    model.save_pretrained(folder)
    return folder


def _gemma3() -> Any:
    from transformers import Gemma3TextConfig

    kinds = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    return Gemma3TextConfig(
        **_SIZES, num_hidden_layers=6, sliding_window=WINDOW, query_pre_attn_scalar=64, layer_types=kinds,
        tie_word_embeddings=False,
    )  # fmt: skip


def _qwen3_5() -> Any:
    from transformers import Qwen3_5TextConfig

    return Qwen3_5TextConfig(
        **_SIZES, num_hidden_layers=4, linear_num_key_heads=1, linear_num_value_heads=2, linear_key_head_dim=64,
        linear_value_head_dim=64, linear_conv_kernel_dim=4, layer_types=["linear_attention"] * 3 + ["full_attention"],
    )  # fmt: skip


def _llama() -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(**_SIZES, num_hidden_layers=4, tie_word_embeddings=False)
