"""Configurations as `vllm serve` makes them, for a model that is described but not loaded."""

import json
from pathlib import Path
from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.config.kv_transfer import KVTransferConfig
from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorRole
from vllm.engine.arg_utils import EngineArgs
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec, KVCacheSpec

BLOCK = 32
VOCABULARY = 4096
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "max_position_embeddings": 16_384,
    "torch_dtype": "float32",
}
REPRISE = {
    "kv_connector": "RepriseConnector",
    "kv_connector_module_path": "reprise_vllm.connector",
    "kv_role": "kv_both",
}


def make_config(folder: Path, connector: dict[str, Any] | None = REPRISE, **options: Any) -> VllmConfig:
    """Returns a configuration as `vllm serve` makes it. The model is a description without weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(LLAMA))
    defaults = {"max_num_batched_tokens": 512, "max_num_seqs": 16, "max_model_len": 8192, "block_size": BLOCK}
    arguments = EngineArgs(
        model=str(folder),
        skip_tokenizer_init=True,
        enforce_eager=True,
        dtype="float32",
        kv_transfer_config=KVTransferConfig(**connector) if connector else None,
        **{**defaults, **options},
    )
    return arguments.create_engine_config()


def full_attention(block_size: int = BLOCK) -> KVCacheSpec:
    return FullAttentionSpec(block_size=block_size, num_kv_heads=1, head_size=64, dtype=torch.float32)


def make_connector(folder: Path) -> KVConnectorBase_V1:
    """Returns the connector as the scheduler makes it, not bound to a pool."""
    group = KVCacheGroupSpec(["layer.0"], full_attention())
    cache = KVCacheConfig(num_blocks=21, kv_cache_tensors=[], kv_cache_groups=[group])
    return KVConnectorFactory.create_connector(make_config(folder), KVConnectorRole.SCHEDULER, cache)
