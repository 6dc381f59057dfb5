"""The shape of the rows that an engine's segments are stored in."""

from typing import TYPE_CHECKING

from reprise_vllm.reuse.settings import ReuseSettings

if TYPE_CHECKING:
    from vllm.v1.kv_cache_interface import AttentionSpec, KVCacheConfig

    from reprise_reuse.host_store import RowShape


def row_shape_of(spec: "AttentionSpec", cache_config: "KVCacheConfig", settings: ReuseSettings) -> "RowShape":
    """Returns the shape of a row in host memory: the keys and values of a token in all layers."""
    from reprise_reuse.host_store import RowShape

    layers = len(cache_config.kv_cache_groups[0].layer_names)
    return RowShape(layers, spec.num_kv_heads, spec.head_size, spec.dtype, settings.host_dtype)
