"""The shape of the rows that an engine's segments are stored in."""

from typing import TYPE_CHECKING

from reprise_settings.reuse_settings import ReuseSettings

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec, KVCacheConfig

    from reprise_reuse.host_store import RowShape


def row_shape_of(
    config: "VllmConfig", spec: "AttentionSpec", cache_config: "KVCacheConfig", settings: ReuseSettings
) -> "RowShape":
    """Returns the shape of a row in host memory: the keys and values of a token in all layers."""
    from reprise_reuse.host_store import RowShape

    layers = len(cache_config.kv_cache_groups[0].layer_names)
    # what is fp8 in the pages is stored as computed, so that keys can be turned and means taken
    dtype = config.model_config.dtype if spec.dtype.itemsize == 1 else spec.dtype
    return RowShape(layers, spec.num_kv_heads, spec.head_size, dtype, settings.host_dtype)
