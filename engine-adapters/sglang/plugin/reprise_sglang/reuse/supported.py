"""Which engines reuse at any position supports in SGLang."""

from typing import Any

import torch

from reprise_settings import NotSupportedError, refuse


def attention_layers(model: Any) -> list[Any]:
    """Returns the model's attention layers in order. Raises `NotSupportedError` unless all attend to all before them
    alike."""
    from sglang.srt.layers.radix_attention import AttentionType, RadixAttention

    found = sorted((one for one in model.modules() if isinstance(one, RadixAttention)), key=lambda one: one.layer_id)
    if [one.layer_id for one in found] != list(range(len(found))) or not found:
        raise NotSupportedError("its layers are not all attention over keys and values of their own")
    for one in found:
        refused = {
            "attention over sliding windows": one.sliding_window_size is not None and one.sliding_window_size > -1,
            "attention with capped logits": bool(one.logit_cap),
            "attention over other texts": one.is_cross_attention,
            "attention to what follows": one.attn_type != AttentionType.DECODER,
            "attention with keys and values of different sizes": one.qk_head_dim != one.v_head_dim,
            "attention in chunks": one.use_irope,
            "attention with scaled temperatures": one.xai_temperature_len > 0,
        }
        refuse(refused)
    shapes = {(one.tp_q_head_num, one.tp_k_head_num, one.head_dim, one.scaling) for one in found}
    sinks = any("sink" in name for name, _ in model.named_parameters())
    refuse({"attention in layers of different shapes": len(shapes) != 1, "attention with sinks": sinks})
    return found


def rotary_of(model: Any, layers: int, longest: int) -> tuple[torch.Tensor, bool]:
    """Returns the table of the model's rotary embedding, float32 [positions, R], and whether its pairs are NeoX'.

    longest  positions that are needed. Raises `NotSupportedError` if keys cannot be moved with it.
    """
    found = [
        one for _, one in model.named_modules(remove_duplicate=False)
        if isinstance(getattr(one, "cos_sin_cache", None), torch.Tensor)
    ]  # fmt: skip
    if len(found) < layers:
        raise NotSupportedError(f"of {layers} layers only {len(found)} turn their keys by position")
    tables = [one.cos_sin_cache for one in found]
    if any(one.shape != tables[0].shape or not torch.equal(one, tables[0]) for one in tables[1:]):
        raise NotSupportedError("layers turn their keys by different angles")
    if len(tables[0]) < longest or tables[0].dim() != 2:
        raise NotSupportedError("its rotary embedding has no table of all positions")
    return tables[0][:longest].float(), bool(found[0].is_neox_style)


def check_runner(runner: Any) -> None:
    """Raises `NotSupportedError` if a nested forward, or what it leaves in the pool, does not suit this server."""
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool
    from sglang.srt.runtime_context import get_disagg, get_exec, get_memory, get_parallel, get_schedule

    pool, parallel, memory, config = runner.token_to_kv_pool, get_parallel(), get_memory(), runner.model_config
    refused = {
        f"a cache of kind {type(pool).__name__} (windows, states or latent keys)": type(pool) is not MHATokenToKVPool,
        "a quantised cache": getattr(pool, "is_quantized_kv_cache", False)
        or pool.dtype not in (torch.float32, torch.float16, torch.bfloat16)
        or pool.store_dtype != pool.dtype,
        "pipeline parallelism": parallel.pp_size > 1,
        "tensor parallelism": parallel.tp_size > 1,
        "data parallelism": parallel.num_dp_ranks > 1,
        "context parallelism": parallel.attn_cp_size > 1 or getattr(parallel, "dcp_size", 1) > 1,
        "speculative decoding": not runner.spec_algorithm.is_none() or runner.is_draft_worker,
        "LoRA": runner.lora_manager is not None,
        "HiCache (--enable-hierarchical-cache)": memory.enable_hierarchical_cache,
        "LMCache, FlexKV or an external linker": any(
            getattr(memory, name, False)
            for name in ("enable_lmcache", "enable_flexkv", "enable_unified_cache_external_linker")
        ),
        "disaggregation of prefill and decode": get_disagg().disaggregation_mode != "null",
        "mixing of prefill and decode (--enable-mixed-chunk)": get_schedule().enable_mixed_chunk,
        "images, sound or positions on several axes": config.is_multimodal or config.model_is_mrope,
        "answers that never vary (--enable-deterministic-inference)": (
            get_exec().deterministic.enable_deterministic_inference
        ),
        "scoring of several items at once": get_exec().features.enable_mis,
        # SGLang keeps them by slot, as its own forwards compute them
        "telling the routed experts of prompts": get_exec().features.enable_return_routed_experts,
        "models without answers": not config.is_generation,
        "encoders": config.is_encoder_decoder,
        "a model of diffusion": getattr(runner, "dllm_config", None) is not None,
    }
    refuse(refused)
