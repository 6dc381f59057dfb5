"""Where reuse depends on vLLM internals beyond the connector interface. Written for vLLM 0.32.

Other such places: `nested_forward.py` builds attention metadata, `engine_rotation.py` rotates keys, `usage.py` reports
usage.
"""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import AttentionSpec, KVCacheConfig
    from vllm.v1.request import Request

# each calls its own `initialize_kv_cache` before it registers its caches with the connector
_RUNNERS = ("vllm.v1.worker.gpu_model_runner", "vllm.v1.worker.gpu.model_runner")
_runner: Any = None
_ROTARY = (
    "RotaryEmbedding",
    "LinearScalingRotaryEmbedding",
    "NTKScalingRotaryEmbedding",
    "Llama3RotaryEmbedding",
    "YaRNScalingRotaryEmbedding",
)


class NotSupportedError(Exception):
    """This engine cannot reuse; the message says why. The engine itself runs as without reuse."""


def recompute_failed_loads() -> None:
    """Makes vLLM compute what a load could not fill, even inside a MultiConnector; by default it fails the request.

    MultiConnector gives its children copies of the configuration, but the scheduler reads the original.
    """
    from vllm.distributed.kv_transfer.kv_connector.v1.multi_connector import MultiConnector

    get_children = MultiConnector._get_connector_classes_and_configs
    if getattr(get_children, "is_reprises", False):
        return

    def with_policy(cls: type, config: "VllmConfig") -> list[tuple[type, "VllmConfig"]]:
        children = get_children(config)
        if any((child.kv_transfer_config.kv_connector_extra_config or {}).get("reuse") for _, child in children):
            config.kv_transfer_config.kv_load_failure_policy = "recompute"
        return children

    with_policy.is_reprises = True
    MultiConnector._get_connector_classes_and_configs = classmethod(with_policy)


def remember_runner() -> None:
    """Makes model runners of this process register themselves: connectors get no model. May be called twice."""
    for name in _RUNNERS:
        runner = getattr(import_module(name), "GPUModelRunner", None)
        initialize = getattr(runner, "initialize_kv_cache", None)
        if initialize is None or getattr(initialize, "is_reprises", False):
            continue
        runner.initialize_kv_cache = _remembering(initialize)


def _remembering(initialize: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(initialize)
    def initialize_kv_cache(self: Any, *arguments: Any, **named: Any) -> Any:
        global _runner
        _runner = self
        return initialize(self, *arguments, **named)

    initialize_kv_cache.is_reprises = True
    return initialize_kv_cache


@dataclass(frozen=True, slots=True)
class Rotary:
    """The model's rotary embedding."""

    cos_sin: torch.Tensor
    """float32 [positions, R]"""
    is_neox: bool


@dataclass(frozen=True, slots=True)
class ModelParts:
    """The parts of a running model that reuse needs."""

    model: Any
    layers: dict[str, Any]
    """attention layers by name, in the order of the model"""
    rotary: Rotary


def attention_spec(config: "KVCacheConfig") -> "AttentionSpec":
    """Returns the cache spec shared by all layers. Raises `NotSupportedError` unless all use plain full attention."""
    from vllm.v1.kv_cache_interface import FullAttentionSpec

    groups = config.kv_cache_groups
    if len(groups) != 1:
        raise NotSupportedError(
            f"the model has {len(groups)} kinds of layers, and only full attention alone is supported"
        )
    spec = groups[0].kv_cache_spec
    if type(spec) is not FullAttentionSpec:
        raise NotSupportedError(f"{type(spec).__name__} is not full attention over keys and values")
    if spec.sliding_window is not None or spec.attention_chunk_size is not None or spec.non_causal:
        raise NotSupportedError("attention over windows, chunks or what follows is not supported")
    return spec


def check_config(config: "VllmConfig") -> None:
    """Raises `NotSupportedError` if a nested forward cannot serve the engine's configuration."""
    parallel = config.parallel_config
    spread = {
        "pipeline parallelism": parallel.pipeline_parallel_size > 1,
        "decode context parallelism": parallel.decode_context_parallel_size > 1,
        "prefill context parallelism": parallel.prefill_context_parallel_size > 1,
        # their ranks run in lock-step, but a nested forward runs on one of them only
        "a model of experts over data-parallel ranks": parallel.is_moe_model is not False
        and parallel.data_parallel_size > 1,
        "overlapping of two batches": parallel.use_ubatching,
        # vLLM selects adapters for the rows of its own step, not for those of a nested forward
        "LoRA": config.lora_config is not None,
        "speculative decoding": config.speculative_config is not None,
        "pooling models": config.model_config.runner_type == "pooling",
        "a quantised KV cache": config.cache_config.cache_dtype.startswith(("fp8", "int", "nvfp")),
    }
    for what, is_used in spread.items():
        if is_used:
            raise NotSupportedError(f"{what} is not supported")


def even_keys(config: "VllmConfig") -> float:
    """Returns how many keys a row must attend to before its attention costs as much as its weights, from the model's
    configuration; infinity if that does not say."""
    model = config.model_config
    described = model.hf_text_config
    hidden = model.get_hidden_size()
    experts = getattr(described, "num_experts_per_tok", None)
    inner = getattr(described, "moe_intermediate_size", None) if experts else None
    inner = inner or getattr(described, "intermediate_size", None)
    heads, head_size = getattr(described, "num_attention_heads", None), model.get_head_size()
    if not (inner and heads and head_size):
        return math.inf
    queries, keys = heads * head_size, model.get_total_num_kv_heads() * head_size
    weights = 2 * hidden * (queries + keys) + 3 * hidden * inner * (experts or 1)
    # each attended key costs two multiplications per query element: one with the key, one with the value
    return weights / (2 * queries)


def model_parts(config: "VllmConfig", names: list[str]) -> ModelParts:
    """Returns the parts of the model that this process's last runner loaded. Raises `NotSupportedError`."""
    if _runner is None:
        raise NotSupportedError("the model was not found: is the package installed where vLLM runs (VLLM_PLUGINS)?")
    model = _runner.get_model() if hasattr(_runner, "get_model") else _runner.model
    context = config.compilation_config.static_forward_context
    layers = {name: context[name] for name in sorted(names, key=list(context).index)}
    for name, layer in layers.items():
        for wanted in ("forward", "do_kv_cache_update"):
            if not hasattr(layer.impl, wanted):
                raise NotSupportedError(f"the attention of {name} has no {wanted}")
        if getattr(layer.impl, "alibi_slopes", None) is not None:
            raise NotSupportedError("ALiBi is not supported: keys that carry no position cannot be turned")
        if getattr(layer.impl, "sinks", None) is not None:
            raise NotSupportedError("attention sinks are not supported")
        if getattr(layer, "kv_sharing_target_layer_name", None) is not None:
            raise NotSupportedError("layers that share keys and values are not supported")
    if len({(layer.num_heads, layer.num_kv_heads, layer.head_size) for layer in layers.values()}) != 1:
        raise NotSupportedError("layers with different numbers or sizes of heads are not supported")
    return ModelParts(model, layers, _rotary_of(model))


def rotary_of_runner() -> Rotary:
    """Returns the rotary embedding of the model that this process's last runner loaded. Raises `NotSupportedError`."""
    if _runner is None:
        raise NotSupportedError("the model was not found: is the package installed where vLLM runs (VLLM_PLUGINS)?")
    return _rotary_of(_runner.get_model() if hasattr(_runner, "get_model") else _runner.model)


def _rotary_of(model: Any) -> Rotary:
    found = {id(one): one for one in model.modules() if hasattr(one, "cos_sin_cache")}.values()
    kinds = {type(one).__name__ for one in found}
    if not kinds:
        raise NotSupportedError("the model has no rotary embedding")
    if not kinds <= set(_ROTARY):
        raise NotSupportedError(
            f"keys turned by {', '.join(sorted(kinds - set(_ROTARY)))} cannot be turned to other places"
        )
    tables = [one._compute_cos_sin_cache().float() for one in found]
    if any(not torch.equal(table, tables[0]) for table in tables[1:]):
        raise NotSupportedError("layers that turn keys differently are not supported")
    first = next(iter(found))
    return Rotary(tables[0].to(first.cos_sin_cache.device), first.is_neox_style)


def make_private(request: "Request", block: int) -> None:
    """Gives the request's blocks from `block` on hashes that no other request can have.

    vLLM enters blocks into its prefix cache under these hashes when it allocates them. Approximate blocks must not be
    found there, so the hash chain continues from a random seed instead of the last exact block. Call this after exact
    hits were looked up and before blocks are allocated.
    """
    nonce = os.urandom(16)
    exact = list(request.block_hashes[:block])
    if block == 0:
        request.block_hashes.clear()
        request.cache_salt = nonce.hex()
        request.update_block_hashes()
    else:
        seed = hashlib.sha256(exact[-1] + nonce).digest()
        request.block_hashes[:] = [*exact[:-1], seed]
        request.update_block_hashes()
        request.block_hashes[block - 1] = exact[-1]


def is_cached(pool: "BlockPool | None", block_hash: bytes) -> bool:
    """Whether vLLM's prefix cache holds a block with this hash; False without a pool."""
    return pool is not None and pool.get_cached_block(block_hash, [0]) is not None


def go_on_from(request: "Request", hashes: Sequence[bytes]) -> None:
    """Gives the request's first blocks the hashes of the turn it starts with, and computes new ones for the rest."""
    request.block_hashes[:] = hashes
    request.update_block_hashes()


def public_hashes(request: "Request", prompt: Sequence[bytes], salt: str | None) -> list[bytes]:
    """Returns the hashes that the request's blocks would have if it were exact.

    prompt  the exact hashes of its prompt's blocks
    salt    its original cache salt
    """
    private, private_salt = list(request.block_hashes), request.cache_salt
    request.block_hashes[:], request.cache_salt = prompt, salt
    request.update_block_hashes()
    public = list(request.block_hashes)
    request.block_hashes[:], request.cache_salt = private, private_salt
    return public


def check_privacy(block_size: int) -> None:
    """Raises `NotSupportedError` unless hashes of this vLLM's requests can be made private and continued from."""
    from vllm.sampling_params import SamplingParams
    from vllm.utils.hashing import sha256
    from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
    from vllm.v1.request import Request

    init_none_hash(sha256)
    hasher = get_request_block_hasher(block_size, sha256)

    def make() -> Request:
        tokens = list(range(4 * block_size + 1))
        return Request("reprise", tokens, SamplingParams(max_tokens=block_size), None, block_hasher=hasher)

    for block in (0, 1, 3):
        stock, ours, other = make(), make(), make()
        for request in (ours, other):
            make_private(request, block)
            request.append_output_token_ids([7] * block_size)
        kept = ours.block_hashes[:block] == stock.block_hashes[:block]
        chained = len(ours.block_hashes) == len(stock.block_hashes) + 1
        apart = not set(ours.block_hashes[block:]) & {*stock.block_hashes, *other.block_hashes}
        answered = make()
        answered.append_output_token_ids([7] * block_size)
        known = public_hashes(ours, stock.block_hashes, None) == answered.block_hashes
        go_on_from(stock, ours.block_hashes[: block + 1])
        stock.append_output_token_ids([7] * block_size)
        followed = stock.block_hashes == ours.block_hashes
        if not (kept and chained and apart and known and followed):
            raise NotSupportedError("the hashes of this vLLM's requests cannot be kept apart from those of exact ones")


def load_tokenizer(config: "VllmConfig") -> Any:
    """Returns the model's tokeniser, or None if the engine runs without one."""
    if config.model_config.skip_tokenizer_init:
        return None
    from vllm.tokenizers import cached_tokenizer_from_config

    return cached_tokenizer_from_config(config.model_config)
