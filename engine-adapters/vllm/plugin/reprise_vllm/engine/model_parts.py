"""The parts of a running engine that reuse needs and connectors are not given: model, layers, rotary embedding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from os.path import commonpath
from typing import TYPE_CHECKING, Any
from weakref import ref

import torch

from reprise_settings import NotSupportedError

if TYPE_CHECKING:
    from vllm.config import VllmConfig

# each calls its own `initialize_kv_cache` before it registers its caches with the connector
_RUNNERS = ("vllm.v1.worker.gpu_model_runner", "vllm.v1.worker.gpu.model_runner")
_runner: ref[Any] | None = None
"""this process's last one, as long as it lives: a model that has ended gives its memory back"""

IMAGES_LEFT = "deepstack_input_embeds"
IMAGES_LEFT_COUNT = "deepstack_input_embeds_num_tokens"


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
        _runner = ref(self)
        return initialize(self, *arguments, **named)

    initialize_kv_cache.is_reprises = True
    return initialize_kv_cache


@dataclass(frozen=True, slots=True)
class Rotary:
    """A rotary embedding."""

    cos_sin: torch.Tensor
    """float32 [positions, R]"""
    is_neox: bool


@dataclass(frozen=True, slots=True)
class ModelParts:
    """The parts of a running model that reuse needs."""

    model: Any
    layers: dict[str, Any]
    """attention layers by name, in the order of the model"""
    rotaries: Sequence[Rotary]
    """each layer's; layers with windows may turn keys by other angles than the others"""


def model_parts(config: "VllmConfig", names: list[str]) -> ModelParts:
    """Returns the parts of the model that this process's last runner loaded. Raises `NotSupportedError`."""
    runner = None if _runner is None else _runner()
    if runner is None:
        raise NotSupportedError("the model was not found: is the package installed where vLLM runs (VLLM_PLUGINS)?")
    model = runner.get_model() if hasattr(runner, "get_model") else runner.model
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
        if getattr(layer, "kv_sharing_target_layer_name", None) is not None:
            raise NotSupportedError("layers that share keys and values are not supported")
    if len({(layer.num_heads, layer.num_kv_heads, layer.head_size) for layer in layers.values()}) != 1:
        raise NotSupportedError("layers with different numbers or sizes of heads are not supported")
    if config.model_config.supports_multimodal_inputs:
        _check_what_images_leave(model)
    around = _around(model, list(layers))
    # modules that layers share count once for each layer
    turning = sum(hasattr(one, "cos_sin_cache") for _, one in around.named_modules(remove_duplicate=False))
    if 0 < turning < len(layers):
        raise NotSupportedError(f"of {len(layers)} layers only {turning} turn their keys by position")
    return ModelParts(model, layers, _rotaries_of(model, around, list(layers), config.model_config.max_model_len))


def _check_what_images_leave(model: torch.nn.Module) -> None:
    """Raises `NotSupportedError` if the model itself holds tensors that what it has seen may be written to.

    `NestedForward` hides what is put in their place, and knows how Qwen3-VL keeps it.
    """
    for name, value in (vars(model) | model._buffers).items():
        several = value if isinstance(value, list | tuple) else [value]
        if not (name == IMAGES_LEFT and leaves_images(model)) and any(isinstance(one, torch.Tensor) for one in several):
            raise NotSupportedError(f"{type(model).__name__} keeps {name} between what it sees and what it reads")


def leaves_images(model: Any) -> bool:
    """Whether a model keeps what it has seen as Qwen3-VL does: in buffers of zeros that it fills, with a count."""
    left = getattr(model, IMAGES_LEFT, None)
    is_of_tensors = isinstance(left, list) and left != [] and all(isinstance(one, torch.Tensor) for one in left)
    return is_of_tensors and hasattr(model, IMAGES_LEFT_COUNT)


def _around(model: torch.nn.Module, names: list[str]) -> torch.nn.Module:
    """Returns the part of a model that holds these layers: layers that see images turn their keys otherwise."""
    shared = commonpath([name.replace(".", "/") for name in names]).split("/")
    try:
        return model.get_submodule(".".join(shared[:-1]))
    except AttributeError:
        return model


def _turning_in(model: torch.nn.Module) -> list[torch.nn.Module]:
    return [one for one in model.modules() if hasattr(one, "cos_sin_cache")]


def _rotaries_of(model: torch.nn.Module, around: torch.nn.Module, names: list[str], longest: int) -> list[Rotary]:
    """Returns the rotary embedding of each layer: that of the module which holds it, else the one of all."""
    made: dict[int, Rotary] = {}
    rotaries = []
    for name in names:
        found = _turning_in(_around(model, [name])) or _turning_in(around)
        key = id(found[0]) if len(found) == 1 else id(around)
        if key not in made:
            made[key] = _rotary_of(found, longest)
        rotaries.append(made[key])
    return rotaries


def _rotary_of(found: list[torch.nn.Module], longest: int) -> Rotary:
    """Returns what these modules have in common. Raises `NotSupportedError` if that is not one table."""
    if not found:
        raise NotSupportedError(
            "the model has no rotary embedding with one table of cosines and sines (LongRoPE has two, and models that "
            "vLLM runs through Transformers have their own)"
        )
    tables = [one._compute_cos_sin_cache().float() for one in found]
    if any(not torch.equal(table, tables[0]) for table in tables[1:]):
        raise NotSupportedError("layers that turn keys differently are not supported")
    if not is_even(tables[0]):
        raise NotSupportedError(f"{type(found[0]).__name__} does not turn keys by the same angle at each position")
    # M-RoPE's go on behind the longest prompt
    table = tables[0][:longest].clone()
    return Rotary(table.to(found[0].cos_sin_cache.device), found[0].is_neox_style)


def is_even(cos_sin: torch.Tensor) -> bool:
    """Whether each position turns keys by the same angle more than the one before, so that they can be moved.

    cos_sin  [positions, R]: cosines, then sines; compared is each position with the one twice as far
    """
    turns = torch.complex(*cos_sin.chunk(2, -1))
    turns = turns / turns[:1].abs()
    at = torch.arange(0, len(turns) // 2, max(len(turns) // 8192, 1), device=turns.device)
    # tables are computed in float32, whose angles are the less exact the larger they are
    rounding = 1e-5 + 2 * torch.finfo(torch.float32).eps * len(turns) * turns[1].angle().abs()
    return bool(((turns[2 * at] - turns[at] ** 2).abs() <= rounding).all())


def load_tokenizer(config: "VllmConfig") -> Any:
    """Returns the model's tokeniser, or None if the engine runs without one."""
    if config.model_config.skip_tokenizer_init:
        return None
    from vllm.tokenizers import cached_tokenizer_from_config

    return cached_tokenizer_from_config(config.model_config)
