"""Engines whose keys cannot be turned to another position in every layer do not reuse."""

from pathlib import Path

import torch
from reuse_model import VOCABULARY, ReusingEngine, make_model
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.models.llama import LlamaAttention


def refusal_of(model: Path, **options: str) -> str | None:
    engine = ReusingEngine(model, {"host_bytes": 8 << 20}, **options)
    refusal = engine.reuse.refusal
    assert engine.reuse.is_ready == (refusal is None)
    engine.core.shutdown()
    return refusal


def test_a_granite_model_with_a_layer_that_has_no_rotary_embedding_is_refused(tmp_path):
    from transformers import GraniteConfig, GraniteForCausalLM

    torch.manual_seed(0)
    config = GraniteConfig(
        vocab_size=VOCABULARY, hidden_size=128, intermediate_size=256, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=4096, initializer_range=0.2, attention_multiplier=32**-0.5,
    )  # fmt: skip
    GraniteForCausalLM(config).save_pretrained(tmp_path / "stock")
    assert refusal_of(tmp_path / "stock") is None
    config.layer_rope_theta = [10_000.0, 0, 10_000.0]
    GraniteForCausalLM(config).save_pretrained(tmp_path / "without")
    assert "of 3 layers only 2 turn their keys" in refusal_of(tmp_path / "without")


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


def test_capped_logits_are_refused(tmp_path, monkeypatch):
    begin = Attention.__init__
    monkeypatch.setattr(
        Attention, "__init__", lambda self, *given, **named: begin(self, *given, logits_soft_cap=30.0, **named)
    )
    assert "capped attention logits" in refusal_of(make_model(tmp_path))
