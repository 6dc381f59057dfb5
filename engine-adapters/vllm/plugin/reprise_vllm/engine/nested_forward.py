"""Runs the engine's own model outside its steps: on chosen rows of a prompt, and on the question."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from vllm.distributed.kv_transfer import get_kv_transfer_group
from vllm.forward_context import set_forward_context
from vllm.v1.attention.backend import CommonAttentionMetadata

from reprise_reuse.runs import Runs, to_passes
from reprise_vllm.engine.cache_slots import slots_of

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec

Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""layer, queries [n, query heads, size], keys and values [n, heads, size] -> output like the queries"""


class _LastLayerReached(Exception):  # noqa: N818, since nothing is wrong
    """All keys and values are written; what the last layer would still compute is not needed."""


class NestedForward:
    """
    Runs the engine's model on tokens of a request at their true positions.

    The engine's own attention computes the rows: it sees each run of neighbouring rows as a request over the same
    pages. So quantised weights, experts and tensor-parallel layers need no code here.
    """

    def __init__(self, config: "VllmConfig", model: Any, spec: "AttentionSpec", layers: dict[str, Any]) -> None:
        """layers: the attention layers by name, in the order of the model."""
        self._config = config
        self._model = model
        self._names = list(layers)
        first = next(iter(layers.values()))
        self._device = torch.device(config.device_config.device)
        builder = first.get_attn_backend().get_builder_cls()
        # a separate builder: the engine's builders keep buffers that a running step may still read
        self._builder = builder(spec, self._names, config, self._device)
        # builders size their buffers for no more requests, and compiled code is made for no more rows
        self._most_runs = config.scheduler_config.max_num_seqs
        self._most_rows = config.scheduler_config.max_num_batched_tokens
        self._block_size = spec.block_size
        self._updates_in_forward = first.get_attn_backend().forward_includes_kv_cache_update
        self._attend: Attend | None = None
        self._is_under_way = False
        for index, layer in enumerate(layers.values()):
            self._intercept(layer, index)

    def compute(self, tokens: torch.Tensor, rows: torch.Tensor, blocks: torch.Tensor) -> None:
        """Computes rows and writes their keys and values to the pages, in as many passes as the engine's limits demand.

        tokens  int32 [n]: the request's
        rows    int64 [m], ascending
        blocks  int64 [b]: the request's; earlier rows must already hold what `rows` attend to
        """
        for runs in to_passes(rows, self._most_rows, self._most_runs):
            self._compute(tokens, runs, blocks)

    def ask(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Attend) -> None:
        """Runs tokens (int32 [n]) at `positions` (int64 [n]) with `attend` instead of attention. Writes no pages."""
        self._attend = attend
        try:
            self._run(tokens, positions, dict.fromkeys(self._names), {}, at=torch.arange(len(tokens)))
        finally:
            self._attend = None

    def _compute(self, tokens: torch.Tensor, runs: Runs, blocks: torch.Tensor) -> None:
        rows, device = runs.rows, self._device
        starts = runs.starts.to(device)
        ends = runs.ends.to(device)
        count = len(ends)
        lengths = runs.starts[1:] - runs.starts[:-1]
        slots = slots_of(blocks, rows, self._block_size)
        common = CommonAttentionMetadata(
            query_start_loc=starts,
            query_start_loc_cpu=starts.cpu(),
            seq_lens=ends,
            num_reqs=count,
            num_actual_tokens=len(rows),
            max_query_len=int(lengths.max()),
            max_seq_len=int(ends.max()),
            block_table_tensor=blocks.int()[None].expand(count, -1).contiguous(),
            slot_mapping=slots,
            causal=True,
            positions=rows,
            seq_lens_cpu_upper_bound=ends.cpu(),
            is_prefilling=torch.ones(count, dtype=torch.bool),
        )
        metadata = self._builder.build(0, common)
        self._run(tokens, rows, dict.fromkeys(self._names, metadata), dict.fromkeys(self._names, slots))

    def _run(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        metadata: dict[str, Any],
        slots: dict[str, torch.Tensor],
        at: torch.Tensor | None = None,
    ) -> None:
        group = get_kv_transfer_group()
        # connectors hook into every layer while they have metadata, but this pass must not reach them
        bound, group._connector_metadata = group._connector_metadata, None
        self._is_under_way = True
        try:
            with set_forward_context(metadata, self._config, num_tokens=len(positions), slot_mapping=slots):
                self._model(
                    # int32 like the engine's: compiled code has dropped its dtype guards
                    input_ids=tokens[positions if at is None else at].int(),
                    positions=positions.long(),
                    intermediate_tensors=None,
                    inputs_embeds=None,
                )
        except _LastLayerReached:
            pass
        finally:
            self._is_under_way = False
            group._connector_metadata = bound

    def _intercept(self, layer: Any, index: int) -> None:
        engines = layer.impl.forward
        is_last = index == len(self._names) - 1

        def forward(
            layer: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cache: Any, metadata: Any,
            output: torch.Tensor, *rest: Any, **named: Any,
        ) -> torch.Tensor:  # fmt: skip
            ends_here = is_last and self._is_under_way
            if self._attend is not None:
                output.copy_(self._attend(index, query, key, value).reshape(output.shape))
            elif self._updates_in_forward or not ends_here:
                output = engines(layer, query, key, value, cache, metadata, output, *rest, **named)
            if ends_here:
                raise _LastLayerReached
            return output

        layer.impl.forward = forward
