"""Which engines reuse at any position supports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reprise_settings import NotSupportedError, refuse

if TYPE_CHECKING:
    import torch
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec, KVCacheConfig

    from reprise_reuse.host_store import RowShape

_KEYED_BY_HASH = (
    *("OffloadingConnector", "SimpleCPUOffloadConnector"),
    # these move what a request's `kv_transfer_params` say, and such requests reuse nothing
    *("NixlConnector", "NixlPullConnector", "NixlPushConnector"),
)


AS_COMPUTED = ("auto", "float16", "bfloat16")
"""formats of a KV cache that hold the numbers that are computed"""


class LayerGroup(NamedTuple):
    """Layers that share a request's blocks. Blocks of several groups may lie in the same memory."""

    names: Sequence[str]
    spec: "AttentionSpec"
    window: int | None
    """how many tokens each one sees, itself included; None: all before it"""


class LayerGroups(tuple[LayerGroup, ...]):
    """All layers of a model. The shape of their keys and values, and the size of blocks, are the same."""

    @property
    def spec(self) -> "AttentionSpec":
        """The first group's: of its shape and block size all are."""
        return self[0].spec

    @property
    def have_windows(self) -> bool:
        """Whether layers differ in their blocks, which vLLM gives back where layers with windows see no more."""
        return len(self) > 1 or self[0].window is not None

    def row_shape(self, computed: "torch.dtype", stored: str) -> "RowShape":
        """Returns the shape of a row in host memory: the keys and values of a token in all layers.

        computed  what the model computes in; stored: the setting `host_dtype`
        """
        from reprise_reuse.host_store import RowShape

        spec, layers = self.spec, sum(len(group.names) for group in self)
        # what is fp8 in the pages is stored as computed, so that keys can be turned and means taken
        dtype = computed if spec.dtype.itemsize == 1 else spec.dtype
        return RowShape(layers, spec.num_kv_heads, spec.head_size, dtype, stored)


def layer_groups(config: "KVCacheConfig") -> LayerGroups:
    """Returns the groups of a model's layers. Raises `NotSupportedError` unless all see what is before, or a window."""
    from vllm.v1.kv_cache_interface import FullAttentionSpec, SlidingWindowSpec

    groups = LayerGroups(
        LayerGroup(group.layer_names, spec, getattr(spec, "sliding_window", None))
        for group in config.kv_cache_groups
        for spec in [group.kv_cache_spec]
    )
    for _, spec, window in groups:
        if type(spec) not in (FullAttentionSpec, SlidingWindowSpec):
            raise NotSupportedError(
                f"layers with states, latent keys or chunks have no keys to move ({type(spec).__name__})"
            )
        is_full = type(spec) is FullAttentionSpec
        if is_full and (window is not None or spec.attention_chunk_size is not None or spec.non_causal):
            raise NotSupportedError("attention over windows in full blocks, chunks or what follows is not supported")
    shapes = {(spec.block_size, spec.num_kv_heads, spec.head_size, spec.dtype) for _, spec, _ in groups}
    if len(shapes) != 1:
        raise NotSupportedError("layers with different numbers or sizes of heads are not supported")
    if groups.have_windows and groups.spec.dtype.itemsize == 1:
        raise NotSupportedError("a KV cache in fp8 is not supported beside layers with windows")
    return groups


def beyond_rows(config: "VllmConfig") -> dict[str, bool]:
    """Returns what neither reuse nor page selection supports, and whether the engine's configuration has it."""
    parallel = config.parallel_config
    return {
        "pipeline parallelism": parallel.pipeline_parallel_size > 1,
        "decode context parallelism": parallel.decode_context_parallel_size > 1,
        "prefill context parallelism": parallel.prefill_context_parallel_size > 1,
        "overlapping of two batches": parallel.use_ubatching,
        "speculative decoding": config.speculative_config is not None,
        "pooling models": config.model_config.runner_type == "pooling",
    }


def check_config(config: "VllmConfig") -> None:
    """Raises `NotSupportedError` if a nested forward cannot serve the engine's configuration."""
    parallel, cache = config.parallel_config, config.cache_config
    spread = {
        # their ranks run in lock-step, but a nested forward runs on one of them only
        "a model of experts over data-parallel ranks": parallel.is_moe_model is not False
        and parallel.data_parallel_size > 1,
        # vLLM selects adapters for the rows of its own step, not for those of a nested forward
        "LoRA": config.lora_config is not None,
        f"a KV cache in {cache.cache_dtype}": cache.cache_dtype not in (*AS_COMPUTED, "fp8", "fp8_e4m3", "fp8_e5m2"),
        # vLLM knows only those of rows that its own forwards compute
        "telling the routed experts of prompts": getattr(
            getattr(config, "aux_output_config", None), "enable_return_routed_experts", False
        ),
        # rows stored before the first forward would have other scales
        "a KV cache whose scales are found while it is used": getattr(cache, "calculate_kv_scales", False),
    }
    refuse(beyond_rows(config) | spread)


def check_siblings(group: Any) -> None:
    """Raises `NotSupportedError` if a connector beside ours may store approximate rows as if they were exact.

    Ours gives such blocks hashes that no other request can have. A connector that names what it stores by tokens, as
    LMCache does, ignores them. So only those are accepted that are known to name it by hash or to move what was asked.
    """
    for one in getattr(group, "_connectors", ()):
        kind = type(one)
        if kind.__name__ not in _KEYED_BY_HASH and not kind.__module__.startswith("reprise_vllm."):
            raise NotSupportedError(
                f"{kind.__name__} beside it in MultiConnector may store approximate keys and values by their tokens"
            )
