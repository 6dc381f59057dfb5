"""SGLang's cache, driven like its scheduler does: with its requests, pools, allocator and batches, on CPU tensors."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from sglang.srt.configs.mamba_utils import Mamba2CacheParams, Mamba2StateShape
from sglang.srt.managers.schedule_batch import FINISH_ABORT, FINISH_LENGTH, Req, ScheduleBatch
from sglang.srt.mem_cache.allocation import alloc_for_decode, alloc_for_extend
from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator, TokenToKVPoolAllocator
from sglang.srt.mem_cache.allocator.swa import SWATokenToKVPoolAllocator
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.common import checkpoint_kv_cache, release_kv_cache
from sglang.srt.mem_cache.memory_pool import (
    HybridLinearKVPool,
    HybridReqToTokenPool,
    MHATokenToKVPool,
    ReqToTokenPool,
)
from sglang.srt.mem_cache.radix_cache import RadixKey
from sglang.srt.mem_cache.registry import TreeCacheBuildContext
from sglang.srt.mem_cache.swa_memory_pool import SWAKVPool
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from sglang.srt.model_executor.forward_batch_info import ForwardMode
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

_MODEL = SimpleNamespace(vocab_size=1 << 20, is_encoder_decoder=False)


def build_context(
    core: str,
    pool_tokens: int = 64,
    page_size: int = 4,
    states: int = 0,
    window: int = 0,
    window_tokens: int = 32,
    **overrides: object,
) -> TreeCacheBuildContext:
    """
    Builds what the scheduler passes to a radix cache backend, for a model with one small layer.

    states: room for as many, in a second layer that keeps them; 0: it has no such layer. SGLang then wants pages of 1.
    window: in a second layer that sees as many tokens only, with room for `window_tokens`; 0: it has no such layer.
    """
    pool = {"device": "cpu", "enable_memory_saver": False}
    rows = {"size": 16, "max_context_len": 4 * pool_tokens, **pool}
    sizes = {"size": pool_tokens, "page_size": page_size, "dtype": torch.float32, "head_num": 1, "head_dim": 2, **pool}
    if states:
        shape = Mamba2StateShape.create(
            tp_world_size=1, intermediate_size=8, n_groups=1, num_heads=1, head_dim=8, state_size=2, conv_kernel=2
        )
        requests = HybridReqToTokenPool(
            mamba_size=states, mamba_spec_state_size=16, cache_params=Mamba2CacheParams(shape=shape, layers=[1]),
            mamba_layer_ids=[1], enable_mamba_extra_buffer=False, speculative_num_draft_tokens=0, **rows,
        )  # fmt: skip
        kv = HybridLinearKVPool(full_attention_layer_ids=[0], mamba_pool=requests.mamba_pool, **sizes)
    elif window:
        requests = ReqToTokenPool(**rows)
        layers = {"full_attention_layer_ids": [0], "swa_attention_layer_ids": [1]}
        kv = SWAKVPool(size_swa=window_tokens, **layers, **sizes)
    else:
        requests = ReqToTokenPool(**rows)
        kv = MHATokenToKVPool(layer_num=1, **sizes)
    allocator = {"dtype": torch.float32, "device": "cpu", "kvcache": kv, "need_sort": False}
    params = CacheInitParams(
        disable=False,
        req_to_token_pool=requests,
        token_to_kv_pool_allocator=(
            SWATokenToKVPoolAllocator(pool_tokens, window_tokens, page_size, **allocator)
            if window
            else TokenToKVPoolAllocator(pool_tokens, **allocator)
            if page_size == 1
            else PagedTokenToKVPoolAllocator(pool_tokens, page_size=page_size, **allocator)
        ),
        page_size=page_size,
        sliding_window_size=window or None,
        enable_kv_cache_events=True,
        tree_core_backend=core,
    )
    context = {
        "server_args": None,
        "params": params,
        "is_hybrid_swa": window > 0,
        "is_hybrid_ssm": states > 0,
        "enable_hierarchical_cache": False,
        "disable_radix_cache": False,
        "tp_worker": None,
        "model_config": None,
        "tp_size": 1,
        "tp_rank": 0,
        "tp_group": None,
    }
    return TreeCacheBuildContext(**(context | overrides))


@dataclass
class Running:
    """A request that holds a row of KV."""

    req: Req
    batch: ScheduleBatch


class ScheduledCache:
    """The scheduler's calls to its cache for one request, step by step."""

    def __init__(self, cache: UnifiedRadixCache) -> None:
        self.cache = cache

    @property
    def free_tokens(self) -> int:
        """How many tokens a new request may take: free ones, and those that can be evicted for it."""
        return self.cache.token_to_kv_pool_allocator.available_size() + self.cache.full_evictable_size()

    def start(
        self,
        rid: str,
        prompt: Sequence[int],
        *,
        salt: str | None = None,
        extra_key: str | None = None,
        chunk: int | None = None,
    ) -> Running:
        """Matches, locks, allocates (evicting if needed) and computes a prompt, or its first chunk."""
        req = self._create(rid, prompt, salt, extra_key)
        running = Running(req, self._batch_of(req))
        self._extend(running, chunk)
        return running

    def next_chunk(self, running: Running, chunk: int | None = None) -> None:
        self._extend(running, chunk)

    def first_token(self, running: Running, token: int) -> None:
        """The prompt is done: what was computed enters the tree."""
        running.req.output_ids.append(token)
        checkpoint_kv_cache(running.req, self.cache)

    def decode(self, running: Running, token: int) -> None:
        batch = running.batch
        batch.forward_mode = ForwardMode.DECODE
        alloc_for_decode(batch, 1)
        running.req.decode_batch_idx += 1
        batch.seq_lens = batch.seq_lens + 1
        batch.seq_lens_cpu = batch.seq_lens_cpu + 1
        running.req.output_ids.append(token)

    def finish(self, running: Running) -> None:
        running.req.finished_reason = FINISH_LENGTH(len(running.req.output_ids))
        release_kv_cache(running.req, self.cache, checkpoint=True)

    def abort(self, running: Running) -> None:
        running.req.finished_reason = FINISH_ABORT("Aborted")
        release_kv_cache(running.req, self.cache, checkpoint=False)

    def retract(self, running: Running) -> None:
        """Memory is short: drops what was computed; the request waits to run again."""
        release_kv_cache(running.req, self.cache, checkpoint=False)
        running.req.reset_for_retract()

    def resume(self, running: Running) -> None:
        """A retracted request recomputes its prompt and its earlier output."""
        self._extend(running, None)

    def serve(self, rid: str, prompt: Sequence[int], output: Sequence[int] = (9001,), **options: str) -> Req:
        """Serves a whole request."""
        running = self.start(rid, prompt, **options)
        self.first_token(running, output[0])
        for token in output[1:]:
            self.decode(running, token)
        self.finish(running)
        return running.req

    def match(self, prompt: Sequence[int], *, salt: str | None = None) -> int:
        """Matches the prompt of a request that waits in the queue. Returns how many of its tokens are found."""
        waiting = self._create("waiting", prompt, salt, None)
        waiting.init_next_round_input(self.cache, cow_mamba=False)
        return waiting.prefix_len

    def flush(self) -> None:
        """Does everything that `/flush_cache` does to the caches of an idle engine."""
        self.cache.reset()
        self.cache.req_to_token_pool.clear()
        self.cache.token_to_kv_pool_allocator.clear()

    def cached_length(self, tokens: Sequence[int], *, salt: str | None = None, extra_key: str | None = None) -> int:
        """Returns how many of these tokens are in the tree, without touching it."""
        key = RadixKey(array("q", tokens), extra_key, cache_salt=salt)
        return self.cache.tree_core.match_full_device_prefix(key)[0]

    def _extend(self, running: Running, chunk: int | None) -> None:
        req, batch = running.req, running.batch
        batch.forward_mode = ForwardMode.EXTEND
        if req.kv.holds_kv:
            # an earlier chunk is in the tree already, and this one continues after it
            checkpoint_kv_cache(req, self.cache)
            req.init_next_round_input()
        else:
            req.init_next_round_input(self.cache)
            req.lock = self.cache.lock(req.last_node)
        end = len(req.full_untruncated_fill_ids)
        req.extend_end = end if chunk is None else min(end, req.prefix_len + chunk)
        batch.prefix_lens = [req.prefix_len]
        batch.extend_num_tokens = req.extend_end - req.prefix_len
        batch.extend_lens = [batch.extend_num_tokens]
        batch.seq_lens_cpu = torch.tensor([req.extend_end])
        batch.seq_lens = batch.seq_lens_cpu.clone()
        _, batch.req_pool_indices, batch.req_pool_indices_cpu = alloc_for_extend(batch)

    def _create(self, rid: str, prompt: Sequence[int], salt: str | None, extra_key: str | None) -> Req:
        sampling = SamplingParams(max_new_tokens=1)
        return Req(rid, "", array("q", prompt), sampling, vocab_size=1 << 20, cache_salt=salt, extra_key=extra_key)

    def _batch_of(self, req: Req) -> ScheduleBatch:
        cache = self.cache
        pools = (cache.req_to_token_pool, cache.token_to_kv_pool_allocator)
        return ScheduleBatch.init_new([req], *pools, cache, _MODEL, False, SpeculativeAlgorithm.NONE)
