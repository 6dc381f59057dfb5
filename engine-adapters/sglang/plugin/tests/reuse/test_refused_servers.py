"""Servers in which reuse at any position does not suit: each is refused by name."""

from copy import copy

import pytest
import torch
from reusing_scheduler import ReusingScheduler
from sglang.srt import runtime_context
from sglang.srt.mem_cache.memory_pool import HybridLinearKVPool, MLATokenToKVPool
from sglang.srt.mem_cache.swa_memory_pool import SWAKVPool

from reprise_settings import NotSupportedError
from reprise_sglang.reuse.supported import check_runner

pytestmark = pytest.mark.scheduler


class Otherwise:
    """One of SGLang's objects, with some attributes replaced."""

    def __init__(self, other: object, **replaced: object) -> None:
        self._other, self._replaced = other, replaced

    def __getattr__(self, name: str) -> object:
        return self._replaced[name] if name in self._replaced else getattr(self._other, name)


def pool_of(kind: type) -> object:
    """One of SGLang's pools, without memory."""
    pool = object.__new__(kind)
    pool.dtype = pool.store_dtype = torch.bfloat16
    return pool


@pytest.mark.parametrize(
    ("part", "setting", "value", "says"),
    [
        ("memory", "enable_hierarchical_cache", True, "HiCache"),
        ("memory", "enable_lmcache", True, "LMCache"),
        ("memory", "enable_unified_cache_external_linker", True, "external linker"),
        ("parallel", "tp_size", 2, "tensor parallelism"),
        ("parallel", "pp_size", 2, "pipeline parallelism"),
        ("parallel", "num_dp_ranks", 2, "data parallelism"),
        ("parallel", "attn_cp_size", 2, "context parallelism"),
        ("disagg", "disaggregation_mode", "prefill", "disaggregation"),
        ("schedule", "enable_mixed_chunk", True, "enable-mixed-chunk"),
        ("exec", "features", Otherwise(None, enable_return_routed_experts=True, enable_mis=False), "routed experts"),
        ("runner", "lora_manager", object(), "LoRA"),
        ("runner", "is_draft_worker", True, "speculative decoding"),
        ("runner", "token_to_kv_pool", Otherwise(None, dtype=torch.int8, store_dtype=torch.int8), "a cache of kind"),
        ("runner", "token_to_kv_pool", pool_of(MLATokenToKVPool), "MLATokenToKVPool"),
        ("runner", "token_to_kv_pool", pool_of(HybridLinearKVPool), "HybridLinearKVPool"),
        ("runner", "token_to_kv_pool", pool_of(SWAKVPool), "SWAKVPool"),
        ("config", "is_multimodal", True, "images"),
        ("config", "model_is_mrope", True, "positions on several axes"),
        ("config", "is_generation", False, "models without answers"),
    ],
)  # fmt: skip
def test_servers_that_cannot_reuse_are_refused_by_name(
    engine: ReusingScheduler, monkeypatch: pytest.MonkeyPatch, part: str, setting: str, value: object, says: str
) -> None:
    runner = engine.scheduler.tp_worker.model_runner
    check_runner(runner)
    changed = {setting: value}
    if part == "config":
        changed = {"model_config": Otherwise(runner.model_config, **changed)}
    if part in ("config", "runner"):
        runner = Otherwise(runner, **changed)
    else:
        given = getattr(runtime_context, f"get_{part}")()
        monkeypatch.setattr(runtime_context, f"get_{part}", lambda: Otherwise(given, **changed))
    with pytest.raises(NotSupportedError, match=says):
        check_runner(runner)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_a_cache_in_fp8_is_refused_by_name(engine: ReusingScheduler, dtype: torch.dtype) -> None:
    runner = engine.scheduler.tp_worker.model_runner
    pool = copy(runner.token_to_kv_pool)
    pool.dtype = dtype
    with pytest.raises(NotSupportedError, match="a quantised cache"):
        check_runner(Otherwise(runner, token_to_kv_pool=pool))
