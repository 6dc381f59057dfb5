"""What tests of quality share."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="module")
def save_llama(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Saves a tiny Llama with so many layers and random weights, always the same, and returns its folder."""
    transformers = pytest.importorskip("transformers")

    def save(layers: int) -> Path:
        folder = tmp_path_factory.mktemp("model")
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=97, hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=4,
            num_key_value_heads=2,
        )  # fmt: skip
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
        return folder

    return save
