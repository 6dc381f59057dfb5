"""What page selection requires of an engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from reprise_pages.selectors import AttentionMass
from reprise_settings import refuse
from reprise_vllm.engine.supported import AS_COMPUTED, beyond_rows

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec

_READS_ITS_TABLE = ("CPU_ATTN", "FLASH_ATTN", "TRITON_ATTN")


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes that selection works with. Pages are the kernel's blocks."""

    page: int
    heads: int
    head_dim: int
    queries: int
    """query heads per KV head"""
    scale: float
    most_pages: int
    """per request"""
    rows: int
    """per batch"""


def check_engine(config: "VllmConfig", spec: "AttentionSpec", layers: Sequence[Any], selector: Any) -> None:
    """Raises `NotSupportedError` if this engine cannot attend correctly over, or be given, a shorter list of pages."""
    from vllm.v1.kv_cache_interface import FullAttentionSpec

    impls = [layer.impl for layer in layers]
    reasons = {
        "attention that is not full attention over keys and values": type(spec) is not FullAttentionSpec,
        "windows": getattr(spec, "sliding_window", None) is not None or any(_window(impl) for impl in impls),
        "chunked attention": getattr(spec, "attention_chunk_size", None) is not None,
        "attention over what follows": getattr(spec, "non_causal", False),
        "ALiBi": any(getattr(impl, "alibi_slopes", None) is not None for impl in impls),
        "reference sliding windows": getattr(config.model_config, "rswa_window", None) is not None,
        "layers that share keys and values": any(
            getattr(impl, "kv_sharing_target_layer_name", None) is not None for impl in impls
        ),
        "layers of different shapes": len({(one.num_heads, one.num_kv_heads, one.head_size) for one in layers}) != 1,
        "a quantised KV cache": config.cache_config.cache_dtype not in AS_COMPUTED,
        "a choice in each layer with this attention backend": selector.per_layer
        and layers[0].get_attn_backend().get_name() not in _READS_ITS_TABLE,
        # torch chooses by tensors of the sizes of each step
        "a choice in each layer without kernels, within full CUDA graphs,": selector.per_layer
        and not isinstance(selector, AttentionMass)
        and has_full_graphs(config),
    }
    refuse(beyond_rows(config) | reasons)


def shape_of(config: "VllmConfig", spec: "AttentionSpec", layer: Any) -> Shape:
    """Returns the sizes of an engine that has passed `check_engine`."""
    return Shape(
        page=spec.block_size,
        heads=spec.num_kv_heads,
        head_dim=spec.head_size,
        queries=layer.num_heads // layer.num_kv_heads,
        scale=float(layer.impl.scale),
        most_pages=-(-config.model_config.max_model_len // spec.block_size),
        rows=config.scheduler_config.max_num_seqs,
    )


def _window(impl: Any) -> bool:
    return (getattr(impl, "sliding_window", None) or -1) not in (-1, (-1, -1))


def has_full_graphs(config: "VllmConfig") -> bool:
    """Whether vLLM may capture attention, and so its metadata's addresses, in CUDA graphs."""
    if torch.device(config.device_config.device).type == "cpu" or config.model_config.enforce_eager:
        return False
    mode = config.compilation_config.cudagraph_mode
    return mode is None or mode.has_full_cudagraphs()
