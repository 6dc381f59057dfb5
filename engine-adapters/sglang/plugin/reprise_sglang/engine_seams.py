"""The parts of SGLang that the reports depend on. Some are private and move, so check for them before use."""

import inspect
from collections.abc import Iterator

TESTED = ("0.5.23",)
"""the SGLang versions that the plugin was tested with"""
_CACHE_METHODS = {
    "checkpoint": ("req",),
    "on_release": ("req", "checkpointed"),
    "reset": (),
    "evict": ("params",),
    "evict_for_alloc": ("params",),
    "_evict_device_leaf": ("node_id", "tracker"),
    "_demote": ("node_id", "tracker"),
    "_drop_subtree_no_host": ("node_id", "tracker"),
}
_TREE_METHODS = {
    "collect_path_info": ("end_node_ids",),
    "get_component_device_value": ("node_id", "component_type"),
}
_PATH_FIELDS = ("node_id", "path_start", "path_end")
_COMPONENT_METHODS = {
    "redistribute_on_node_split": ("new_parent", "child"),
    "_evict_device_start": ("request_cnt",),
    "_evict_device_next_node": ("tracker",),
    "_evict_device_end": (),
}


def find_missing_hotness_seams() -> list[str]:
    """Like `find_missing_seams`, for what eviction by hotness needs in addition."""
    try:
        from sglang.srt.mem_cache.unified_cache.components.full import FullComponent
        from sglang.srt.mem_cache.unified_cache.unified_tree_core import UnifiedTreeCore
        from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
    except ImportError as error:
        return [str(error)]
    backup = {"_execute_and_commit_kv_backup": ("action", "write_back")}
    return [
        *_missing_methods(FullComponent, _COMPONENT_METHODS),
        *_missing_methods(UnifiedTreeCore, {"node_by_id": ("node_id",)}),
        *_missing_methods(UnifiedRadixCache, backup),
    ]


def find_missing_promotion_seams() -> list[str]:
    """Like `find_missing_seams`, for what promotion needs in addition."""
    try:
        from sglang.srt.managers.cache_controller import HiCacheController
        from sglang.srt.mem_cache.unified_cache.components.full import FullComponent
        from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
    except ImportError as error:
        return [str(error)]
    loading = {"check_hicache_events": (), "ready_to_load_host_cache": (), "load_back": ("node_id",)}
    return [
        *_missing_methods(UnifiedRadixCache, loading),
        *_missing_methods(HiCacheController, {"start_loading": ()}),
        *_missing_methods(FullComponent, {"evict_component": ("node",)}),
    ]


def find_missing_seams() -> list[str]:
    """Returns names and parameters that this SGLang lacks; an empty list means that its cache can be reported."""
    try:
        from sglang.srt.mem_cache import registry
        from sglang.srt.mem_cache.base_prefix_cache import EvictResult
        from sglang.srt.mem_cache.cache_init_params import CacheInitParams
        from sglang.srt.mem_cache.unified_cache.unified_tree_core_interface import (
            TreePathNodeInfo,
            UnifiedTreeCoreInterface,
        )
        from sglang.srt.mem_cache.unified_radix_cache import BASE_COMPONENT_TYPE, UnifiedRadixCache  # noqa: F401
    except ImportError as error:
        return [str(error)]
    return [
        *_missing_methods(UnifiedRadixCache, _CACHE_METHODS),
        *_missing_methods(UnifiedTreeCoreInterface, _TREE_METHODS),
        *_missing_methods(registry, {"create_unified_radix_cache": ("ctx", "cache_class")}),
        *_missing_fields(TreePathNodeInfo, _PATH_FIELDS),
        *_missing_fields(CacheInitParams, ("swa_gates_prefix_match", "decoder_swa_bounded_replay")),
        *_missing_fields(registry.TreeCacheBuildContext, ("full_tokens_per_layer",)),
        *_missing_fields(EvictResult, ("num_tokens_evicted", "swa_num_tokens_evicted", "mamba_num_evicted")),
    ]


def _missing_methods(owner: object, methods: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, parameters in methods.items():
        method = getattr(owner, name, None)
        if not callable(method):
            yield f"{_name_of(owner)}.{name}"
            continue
        # `signature` sees through a decorator that keeps the signature
        known = inspect.signature(method).parameters
        yield from (f"{parameter} of {_name_of(owner)}.{name}" for parameter in parameters if parameter not in known)


def _missing_fields(owner: type, fields: tuple[str, ...]) -> Iterator[str]:
    known = inspect.signature(owner).parameters
    yield from (f"{_name_of(owner)}.{field}" for field in fields if field not in known)


def _name_of(owner: object) -> str:
    return getattr(owner, "__name__", str(owner))
