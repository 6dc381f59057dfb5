"""SGLang's own torch attention, reading fewer tokens for requests that opt in."""

import logging
from typing import Any

import numpy as np
import torch
from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend

from reprise_sglang.pages import hooks
from reprise_sglang.pages.selection import PageSelection, PageStep
from reprise_sglang.pages.settings import PageSettings

logger = logging.getLogger(__name__)

# relative to the largest value of a layer's output: a different order of keys changes the order of sums
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}


class PagedTorchNativeBackend(TorchNativeAttnBackend):
    """
    Gives each layer its own table, with fewer tokens, for the sparse requests of a decode batch.

    The first step with such a request is a self-test: it is served by stock attention, which is compared with a table
    of all pages. Any fault, then or later, disables selection for good; the step continues with stock attention.
    """

    def __init__(self, model_runner: Any, settings: PageSettings) -> None:
        super().__init__(model_runner)
        self.refusal = _obstacle(model_runner)
        self.is_proven = False
        self._step: PageStep | None = None
        self._layer = 0
        self._layers = model_runner.model_config.num_hidden_layers
        if self.refusal is not None:
            logger.error("reprise: no pages are selected: %s", self.refusal)
            return
        keys = [self.token_to_kv_pool.get_key_buffer(layer) for layer in range(self._layers)]
        self.selection = PageSelection(settings, keys, self.req_to_token_pool.req_to_token.shape[1])
        hooks.is_selecting = True
        logger.info("reprise: selecting pages by %s", settings.selector)

    def init_forward_metadata(self, forward_batch: Any) -> None:
        super().init_forward_metadata(forward_batch)
        self._step = None
        ratios = getattr(forward_batch.rids, "ratios", None)
        if self.refusal is not None or not ratios or not forward_batch.forward_mode.is_decode():
            return
        if len(ratios) != len(forward_batch.seq_lens) or all(ratio is None for ratio in ratios):
            return
        try:
            lengths = forward_batch.seq_lens_cpu
            lengths = forward_batch.seq_lens.cpu() if lengths is None else lengths
            self._step = self.selection.begin_step(
                forward_batch.rids, ratios, lengths.numpy().astype(np.int64), self.req_to_token_pool.req_to_token,
                forward_batch.req_pool_indices, all_pages=not self.is_proven,
            )  # fmt: skip
        except Exception as error:
            self._give_up(error)

    def forward_decode(
        self, q: Any, k: Any, v: Any, layer: Any, forward_batch: Any, *arguments: Any, **named: Any
    ) -> Any:
        self._layer = layer.layer_id
        return super().forward_decode(q, k, v, layer, forward_batch, *arguments, **named)

    def _run_sdpa_forward_decode(
        self, query: torch.Tensor, output: torch.Tensor, k_cache: torch.Tensor, v_cache: torch.Tensor,
        req_to_token: torch.Tensor, req_pool_indices: torch.Tensor, seq_lens: torch.Tensor, encoder_lens: Any = None,
        scaling: float | None = None, is_cross_attn: bool = False, sliding_window_size: int | None = None, **named: Any,
    ) -> torch.Tensor:  # fmt: skip
        def attend(table: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor, into: torch.Tensor) -> torch.Tensor:
            return super(PagedTorchNativeBackend, self)._run_sdpa_forward_decode(
                query, into, k_cache, v_cache, table, rows, lengths, encoder_lens, scaling=scaling,
                is_cross_attn=is_cross_attn, sliding_window_size=sliding_window_size, **named,
            )  # fmt: skip

        step = self._step
        if step is None:
            return attend(req_to_token, req_pool_indices, seq_lens, output)
        try:
            if encoder_lens is not None or is_cross_attn or sliding_window_size is not None:
                raise ValueError("a layer does not attend to its whole context alone")
            scale = scaling if scaling is not None else query.shape[-1] ** -0.5
            tokens = self.selection.tokens_of(step, self._layer, query.float() * scale)
            table = _with_dense_rows(step, tokens, req_to_token, req_pool_indices)
            ours = torch.empty_like(output)
            attend(table, torch.arange(step.batch, device=table.device), step.lengths, ours)
        except Exception as error:
            self._give_up(error)
            return attend(req_to_token, req_pool_indices, seq_lens, output)
        if self.is_proven:
            return output.copy_(ours)
        stock = attend(req_to_token, req_pool_indices, seq_lens, output)
        self._compare(stock, ours)
        return stock

    def _compare(self, stock: torch.Tensor, ours: torch.Tensor) -> None:
        error = float((stock.float() - ours.float()).abs().max() / stock.float().abs().max().clamp_min(1e-6))
        if not error <= _TOLERANCE.get(stock.dtype, 4e-2):
            self._give_up(ValueError(f"all pages in layer {self._layer} are not the whole context: off by {error:.1e}"))
        elif self._layer == self._layers - 1:
            self.is_proven = True
            self.selection.forget_choices()
            logger.info("reprise: the self-test has passed: fewer pages are read from now on")

    def _give_up(self, error: Exception) -> None:
        self._step, self.refusal = None, f"{type(error).__name__}: {error}"
        logger.error("reprise: no pages are selected any more: %s", self.refusal, exc_info=error)


def _with_dense_rows(
    step: PageStep, tokens: torch.Tensor, req_to_token: torch.Tensor, pool_rows: torch.Tensor
) -> torch.Tensor:
    """Returns a table for the whole batch: `tokens` for sparse rows, whole contexts for the others."""
    width = int(step.lengths.max())
    table = req_to_token[pool_rows, :width].clone()
    if table.shape[1] < tokens.shape[1]:
        raise ValueError("a list is longer than a context may be")
    table[step.rows[:, None], torch.arange(tokens.shape[1], device=table.device)] = tokens
    return table


def _obstacle(runner: Any) -> str | None:
    """Returns why reading fewer tokens would be wrong, or why other requests could find approximate KV; else None."""
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool
    from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
    from sglang.srt.model_executor.forward_batch_info import ForwardBatch

    if type(runner.token_to_kv_pool) is not MHATokenToKVPool:
        return f"a cache of kind {type(runner.token_to_kv_pool).__name__} is not supported"
    if runner.token_to_kv_pool.layer_num != runner.model_config.num_hidden_layers:
        return "pipeline parallelism is not supported"
    if getattr(runner, "is_draft_worker", False) or not runner.spec_algorithm.is_none():
        return "speculative decoding is not supported"
    for owner, name in ((UnifiedRadixCache, "checkpoint"), (ForwardBatch, "init_new")):
        if not hasattr(getattr(owner, name), "__wrapped__"):
            return f"SGLang has not taken our hook on {owner.__name__}.{name}"
    from sglang.srt.runtime_context import get_memory

    others = [name for name in ("enable_lmcache", "enable_flexkv") if getattr(get_memory(), name, False)]
    return f"{', '.join(others)} keeps what is written by itself" if others else None
