"""The parts of SGLang that the plugin depends on. Some are private and move, so check for them before use."""

import inspect
from collections.abc import Mapping, Sequence
from pkgutil import resolve_name

TESTED = ("0.5.23",)
"""the SGLang versions that the plugin was tested with"""

Seams = Mapping[str, Mapping[str, Sequence[str]]]
"""by module, or class of a module: parameters of its functions, and of its classes the parameters of their methods"""

_CACHE = "mem_cache.unified_radix_cache:UnifiedRadixCache"
_COMPONENT = "mem_cache.unified_cache.components.full:FullComponent"
_CORE = "mem_cache.unified_cache.unified_tree_core_interface"

REPORTS: Seams = {
    _CACHE: {
        "checkpoint": ("req",),
        "on_release": ("req", "checkpointed"),
        "reset": (),
        "evict": ("params",),
        "evict_for_alloc": ("params",),
        "_evict_device_leaf": ("node_id", "tracker"),
        "_demote": ("node_id", "tracker"),
        "_drop_subtree_no_host": ("node_id", "tracker"),
    },
    f"{_CORE}:UnifiedTreeCoreInterface": {
        "collect_path_info": ("end_node_ids",),
        "get_component_device_value": ("node_id", "component_type"),
    },
    _CORE: {"TreePathNodeInfo": ("node_id", "path_start", "path_end")},
    "mem_cache.registry": {
        "create_unified_radix_cache": ("ctx", "cache_class"),
        "TreeCacheBuildContext": ("full_tokens_per_layer",),
    },
    "mem_cache.cache_init_params": {"CacheInitParams": ("swa_gates_prefix_match", "decoder_swa_bounded_replay")},
    "mem_cache.base_prefix_cache": {
        "EvictResult": ("num_tokens_evicted", "swa_num_tokens_evicted", "mamba_num_evicted"),
    },
}
"""of a cache that can be reported"""
HOTNESS: Seams = {
    _COMPONENT: {
        "redistribute_on_node_split": ("new_parent", "child"),
        "_evict_device_start": ("request_cnt",),
        "_evict_device_next_node": ("tracker",),
        "_evict_device_end": (),
    },
    "mem_cache.unified_cache.unified_tree_core:UnifiedTreeCore": {"node_by_id": ("node_id",)},
    _CACHE: {"_execute_and_commit_kv_backup": ("action", "write_back")},
}
"""what eviction by hotness needs in addition"""
PROMOTION: Seams = {
    _CACHE: {"check_hicache_events": (), "ready_to_load_host_cache": (), "load_back": ("node_id",)},
    "managers.cache_controller:HiCacheController": {"start_loading": ()},
    _COMPONENT: {"evict_component": ("node",)},
}
"""and promotion"""


def what_lacks(seams: Seams) -> str | None:
    """Returns a sentence that names what this SGLang lacks of these; None if it has all."""
    missing: list[str] = []
    for path, named in seams.items():
        try:
            # without a colon, what fails within the module would be lost
            owner = resolve_name(f"sglang.srt.{path}" if ":" in path else f"sglang.srt.{path}:")
        except (ImportError, AttributeError) as error:
            missing.append(str(error))
            continue
        for name, parameters in named.items():
            found, full = getattr(owner, name, None), f"{owner.__name__}.{name}"
            if callable(found):
                # `signature` sees through a decorator that keeps the signature
                known = inspect.signature(found).parameters
                missing += [f"{parameter} of {full}" for parameter in parameters if parameter not in known]
            else:
                missing.append(full)
    return f"This SGLang lacks {', '.join(missing)}." if missing else None
