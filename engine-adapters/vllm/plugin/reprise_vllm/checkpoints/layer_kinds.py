"""Which layers of a model keep checkpoints only, and what one of these costs."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprise_settings import NotSupportedError, refuse

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.kv_cache_manager import KVCacheManager
    from vllm.v1.kv_cache_interface import KVCacheSpec

_BOUNDARY = "shared_prefix_boundary"


@dataclass(frozen=True, slots=True)
class LayerKinds:
    """The groups of layers beside full attention. A prefix is found only where all of them hold its end."""

    unit: int
    """tokens: a checkpoint lies at a multiple of it"""
    kinds: Sequence[str]
    """`window`, `state`"""
    room_tokens: int
    """how many tokens of full attention's cache take the memory of one checkpoint"""
    windows: Sequence[Any]
    """vLLM's managers of layers with windows"""

    @property
    def has_states(self) -> bool:
        return "state" in self.kinds


def tail_blocks(spec: "KVCacheSpec") -> int | None:
    """Returns how many blocks a group must hold in front of a checkpoint; 0: all (full attention), None: unknown."""
    from vllm.v1.kv_cache_interface import FullAttentionSpec, MambaSpec, SlidingWindowSpec

    if isinstance(spec, FullAttentionSpec):
        return 0
    if isinstance(spec, MambaSpec):
        return 1
    return -(-(spec.sliding_window - 1) // spec.block_size) if isinstance(spec, SlidingWindowSpec) else None


def kinds_of(specs: Sequence["KVCacheSpec"]) -> list[str]:
    """Returns what layers beside full attention are: `window`, `state`."""
    are_windows = {_is_window(spec) for spec in specs if tail_blocks(spec)}
    return [kind for kind, is_window in (("window", True), ("state", False)) if is_window in are_windows]


def _is_window(spec: "KVCacheSpec") -> bool:
    return hasattr(spec, "sliding_window")


def find_layer_kinds(manager: "KVCacheManager", config: "VllmConfig") -> LayerKinds | None:
    """Returns None if all layers are of full attention. Raises `NotSupportedError`, which names what is missing."""
    specs = [group.kv_cache_spec for group in manager.kv_cache_config.kv_cache_groups]
    if len(specs) == 1:
        return None
    _check_names()
    parallel = config.parallel_config
    untested = {
        "speculative decoding": config.speculative_config is not None,
        "decode context parallelism": parallel.decode_context_parallel_size > 1,
        "prefill context parallelism": parallel.prefill_context_parallel_size > 1,
    }
    refuse(untested)
    managers = manager.coordinator.single_type_managers
    tails = [tail_blocks(spec) for spec in specs]
    if None in tails:
        unknown = type(specs[tails.index(None)]).__name__
        raise NotSupportedError(f"it is not known what layers of this kind need to find a prefix ({unknown})")
    full = [one.block_size for one, tail in zip(managers, tails, strict=True) if tail == 0]
    if not full or len(full) == len(specs):
        return None
    return LayerKinds(
        unit=manager.coordinator.scheduler_block_size,
        kinds=kinds_of(specs),
        # all blocks of the pool have the same size
        room_tokens=sum(tails) * full[0] // len(full),
        windows=[one for one, tail in zip(managers, tails, strict=True) if tail and _is_window(one.kv_cache_spec)],
    )


def _check_names() -> None:
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.core.single_type_kv_cache_manager import SingleTypeKVCacheManager

    cache = SingleTypeKVCacheManager.cache_blocks
    split = getattr(Scheduler, "_mamba_block_aligned_split", None)
    missing = {
        f"{_BOUNDARY} in cache_blocks": _BOUNDARY not in cache.__code__.co_names,
        "replay_boundaries of cache_blocks": "replay_boundaries" not in inspect.signature(cache).parameters,
        f"{_BOUNDARY} in _mamba_block_aligned_split": split is None or _BOUNDARY not in split.__code__.co_names,
    }
    if any(missing.values()):
        raise NotSupportedError(
            f"this vLLM has no {', no '.join(name for name, is_gone in missing.items() if is_gone)}"
        )
