"""Runs SGLang's own model outside its steps: on chosen rows of prompts, and on questions."""

from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
from sglang.srt.model_executor.forward_batch_info import CaptureHiddenMode, ForwardBatch, ForwardMode
from sglang.srt.model_executor.forward_context import ForwardContext, forward_context
from sglang.srt.runtime_context import get_model

from reprise_reuse.rows.engine_parts import Attend, Forward, LastLayerReached, Requests
from reprise_sglang.reuse.pool_rows import LayerPages
from reprise_sglang.reuse.row_attention import attend_rows


class NestedForward(AttentionBackend, Forward):
    """
    Runs the model with itself as the attention backend.

    Weights, rotary embedding and experts are SGLang's. Slot 0 of its pool is padding, which nobody reads.
    """

    most_rows = 8192

    def __init__(self, runner: Any, pages: Sequence[LayerPages], scale: float) -> None:
        """scale: of attention's logits"""
        super().__init__()
        self._runner, self._pages, self._scale = runner, pages, scale
        self.token_to_kv_pool, self.req_to_token_pool = runner.token_to_kv_pool, runner.req_to_token_pool

    def compute(self, tokens: torch.Tensor, rows: torch.Tensor, requests: Requests) -> None:
        # there is one group of layers, and a block is a slot
        slots, at = [blocks[0] for blocks in requests.blocks], rows.split(list(requests.counts))

        def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
            pages, first = self._pages[layer], 0
            for own, positions in zip(slots, at, strict=True):
                part = slice(first, first + len(positions))
                attend_rows(q[part], pages.keys, pages.values, own, positions, self._scale, output[part])
                first = part.stop

        written = torch.cat([own[positions] for own, positions in zip(slots, at, strict=True)])
        self.write(tokens, rows, written, attend)

    def answer(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        return self._run(tokens, positions, attend=attend, is_whole=True).next_token_logits[0]

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, layer: Any, forward_batch: Any,
        save_kv_cache: bool = True, **named: Any,
    ) -> torch.Tensor:  # fmt: skip
        """Called by the model's layers in place of SGLang's attention."""
        index, slots = layer.layer_id, self._slots
        if slots is not None and save_kv_cache:
            pages = self._pages[index]
            pages.keys.index_copy_(0, slots, k.view(len(k), *pages.shape[1:]).to(pages.dtype))
            pages.values.index_copy_(0, slots, v.view(len(v), *pages.shape[1:]).to(pages.dtype))
        ends_here = index == len(self._pages) - 1 and self._is_under_way
        q = q.reshape(len(q), -1, k.shape[-1])
        output = torch.empty_like(q, memory_format=torch.contiguous_format)
        # of rows whose keys and values are written, nobody reads what the last layer would give
        if slots is None or not ends_here:
            self._attend(index, q, k, v, output)
        if ends_here:
            raise LastLayerReached
        return output.flatten(1)

    def _run(
        self, tokens: torch.Tensor, positions: torch.Tensor, *, attend: Attend, written: torch.Tensor | None = None,
        is_whole: bool = False,
    ) -> Any:  # fmt: skip
        """Returns what the model returns, if it is run to its end (`is_whole`)."""
        model, device, count = self._runner.model, positions.device, len(positions)
        self._attend, self._slots, self._is_under_way = attend, written, not is_whole
        lengths = torch.full((1,), count, dtype=torch.int64, device=device)
        batch = ForwardBatch(
            forward_mode=ForwardMode.EXTEND, batch_size=1, input_ids=tokens.long(), positions=positions.long(),
            req_pool_indices=torch.zeros(1, dtype=torch.int64, device=device),
            seq_lens=lengths, seq_lens_sum=count, extend_seq_lens=lengths,
            out_cache_loc=torch.zeros(count, dtype=torch.int64, device=device) if written is None else written,
            extend_num_tokens=count, capture_hidden_mode=CaptureHiddenMode.NULL,
        )  # fmt: skip
        try:
            with (
                get_model().override(shared_experts=model.shared_experts_config),
                forward_context(ForwardContext(attn_backend=self), forward_batch=batch),
            ):
                output = model.forward(batch.input_ids, batch.positions, batch)
        except LastLayerReached:
            return None
        finally:
            self._attend, self._slots, self._is_under_way = None, None, False
        if is_whole:
            return output
        raise RuntimeError("the model has not run its last attention layer")
