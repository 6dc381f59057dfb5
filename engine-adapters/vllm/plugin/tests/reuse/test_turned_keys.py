"""Engines whose keys cannot be turned to another position in every layer do not reuse."""

from pathlib import Path
from typing import Any

import pytest
import torch
from reuse_model import ReusingEngine, make_model
from vllm.model_executor.models.llama import LlamaAttention


def refusal_of(model: Path, **options: Any) -> str | None:
    engine = ReusingEngine(model, {"host_bytes": 8 << 20}, **options)
    refusal = engine.reuse.refusal
    assert engine.reuse.is_ready == (refusal is None)
    engine.core.shutdown()
    return refusal


def test_a_layer_that_has_a_rotary_embedding_and_does_not_use_it_is_refused(tmp_path, monkeypatch):
    turn = LlamaAttention.forward

    def forward(self: LlamaAttention, positions: torch.Tensor, hidden_states: torch.Tensor) -> torch.Tensor:
        is_left_out = ".1." in self.attn.layer_name
        return turn(self, torch.zeros_like(positions) if is_left_out else positions, hidden_states)

    monkeypatch.setattr(LlamaAttention, "forward", forward)
    assert "keys of layer 1 turned to another place are off" in refusal_of(make_model(tmp_path))


def test_keys_that_are_normed_after_they_are_turned_are_refused_in_half_precision_too(tmp_path, monkeypatch):
    turn = LlamaAttention._init_rotary_emb

    def norm_after(self: LlamaAttention, *arguments: object, **named: object) -> None:
        turn(self, *arguments, **named)
        # two dimensions are much larger than the others, as in many models, and hardly turn
        rotary, weights = self.rotary_emb.forward, torch.linspace(0.85, 1.15, self.head_dim)
        weights[[self.head_dim // 2 - 1, -1]] = 12

        def forward(positions: torch.Tensor, q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            q, k = rotary(positions, q, k)
            heads = k.float().unflatten(-1, (-1, self.head_dim))
            heads = heads * heads.square().mean(-1, keepdim=True).rsqrt() * weights
            return q, heads.flatten(-2).to(k.dtype)

        monkeypatch.setattr(self.rotary_emb, "forward", forward)

    monkeypatch.setattr(LlamaAttention, "_init_rotary_emb", norm_after)
    assert "turned to another place are off" in refusal_of(make_model(tmp_path), dtype="bfloat16")


def test_half_precision_alone_is_no_reason_to_refuse(tmp_path):
    assert refusal_of(make_model(tmp_path), dtype="bfloat16") is None


@pytest.mark.parametrize(("dtype", "positions"), [("float32", 131_072), ("float16", 262_144)])
def test_a_long_context_whose_tables_are_rounded_is_no_reason_to_refuse(tmp_path, dtype, positions):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=positions, initializer_range=0.2,
        rope_parameters={"rope_type": "default", "rope_theta": 5e5},
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    blocks = positions // 32 + 100
    assert refusal_of(tmp_path, dtype=dtype, max_model_len=positions, num_gpu_blocks_override=blocks) is None


def test_a_table_that_ends_before_the_longest_prompt_is_not_read_behind_its_end(tmp_path, monkeypatch):
    monkeypatch.setenv("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "1")
    assert refusal_of(make_model(tmp_path), max_model_len=8_192, num_gpu_blocks_override=400) is None
