"""The parts of a running engine that reuse needs and connectors are not given: model, layers, rotary embedding."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from reprise_vllm.engine.supported import NotSupportedError

if TYPE_CHECKING:
    from vllm.config import VllmConfig

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


def remember_runner() -> None:
    """Makes model runners of this process register themselves: connectors get no model. May be called twice."""
    for name in _RUNNERS:
        try:
            runner = getattr(import_module(name), "GPUModelRunner", None)
        except ImportError:
            # of the two runners a vLLM may have only one
            continue
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


def model_parts(config: "VllmConfig", names: list[str]) -> ModelParts:
    """Returns the parts of the model that this process's last runner loaded. Raises `NotSupportedError`."""
    model = _model_of_runner()
    context = config.compilation_config.static_forward_context
    layers = {name: context[name] for name in sorted(names, key=list(context).index)}
    for name, layer in layers.items():
        for wanted in ("forward", "do_kv_cache_update"):
            if not hasattr(layer.impl, wanted):
                raise NotSupportedError(f"the attention of {name} has no {wanted}")
        if getattr(layer.impl, "alibi_slopes", None) is not None:
            raise NotSupportedError("ALiBi is not supported: keys that carry no position cannot be turned")
        if getattr(layer.impl, "logits_soft_cap", None):
            raise NotSupportedError("capped attention logits are not supported: the question's attention has no cap")
        if getattr(layer.impl, "sinks", None) is not None:
            raise NotSupportedError("attention sinks are not supported")
        if getattr(layer, "kv_sharing_target_layer_name", None) is not None:
            raise NotSupportedError("layers that share keys and values are not supported")
    if len({(layer.num_heads, layer.num_kv_heads, layer.head_size) for layer in layers.values()}) != 1:
        raise NotSupportedError("layers with different numbers or sizes of heads are not supported")
    # modules that layers share count once for each layer
    turning = sum(hasattr(one, "cos_sin_cache") for _, one in model.named_modules(remove_duplicate=False))
    if 0 < turning < len(layers):
        raise NotSupportedError(f"of {len(layers)} layers only {turning} turn their keys by position")
    return ModelParts(model, layers, _rotary_of(model))


def rotary_of_runner() -> Rotary:
    """Returns the rotary embedding of the model that this process's last runner loaded. Raises `NotSupportedError`."""
    return _rotary_of(_model_of_runner())


def _model_of_runner() -> Any:
    if _runner is None:
        raise NotSupportedError("the model was not found: is the package installed where vLLM runs (VLLM_PLUGINS)?")
    return _runner.get_model() if hasattr(_runner, "get_model") else _runner.model


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


def load_tokenizer(config: "VllmConfig") -> Any:
    """Returns the model's tokeniser, or None if the engine runs without one."""
    if config.model_config.skip_tokenizer_init:
        return None
    from vllm.tokenizers import cached_tokenizer_from_config

    return cached_tokenizer_from_config(config.model_config)
