"""The shape of the rows that an engine's segments are stored in."""

from typing import TYPE_CHECKING

from reprise_settings.reuse_settings import ReuseSettings

if TYPE_CHECKING:
    from vllm.config import VllmConfig

    from reprise_reuse.host_store import RowShape
    from reprise_vllm.engine.supported import LayerGroups


def row_shape_of(config: "VllmConfig", groups: "LayerGroups", settings: ReuseSettings) -> "RowShape":
    """Returns the shape of a row in host memory: the keys and values of a token in all layers."""
    from reprise_reuse.host_store import RowShape

    spec, layers = groups.spec, sum(len(group.names) for group in groups)
    # what is fp8 in the pages is stored as computed, so that keys can be turned and means taken
    dtype = config.model_config.dtype if spec.dtype.itemsize == 1 else spec.dtype
    return RowShape(layers, spec.num_kv_heads, spec.head_size, dtype, settings.host_dtype)
