"""Runs the engine's own model outside its steps: on chosen rows of prompts, and on questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from vllm.distributed import tensor_model_parallel_all_reduce
from vllm.distributed.kv_transfer import get_kv_transfer_group
from vllm.forward_context import set_forward_context
from vllm.v1.attention.backend import CommonAttentionMetadata

from reprise_reuse.rows.engine_parts import Attend, Forward, LastLayerReached, Requests, Runs, to_passes
from reprise_reuse.rows.evidence import Sight
from reprise_vllm.engine.model_parts import IMAGES_LEFT, IMAGES_LEFT_COUNT, leaves_images

if TYPE_CHECKING:
    from vllm.config import VllmConfig

    from reprise_vllm.engine.supported import LayerGroups


def _rest_of(model: Any, most_rows: int) -> dict[str, Any]:
    """Returns attributes that a model may change when it sees, as they are before; for passes of `most_rows` rows."""
    rest = {name: None for name, value in vars(model).items() if value is None}
    if leaves_images(model):
        # captured passes read them, so they stay where they are; nobody writes to them
        first, *others = getattr(model, IMAGES_LEFT)
        none = first.new_zeros(most_rows, *first.shape[1:])
        rest |= {IMAGES_LEFT: [none, *(none for _ in others)], IMAGES_LEFT_COUNT: 0}
    return rest


def sights_of(groups: "LayerGroups", layers: Mapping[str, Any]) -> list[Sight]:
    """Returns what each layer attends to; layers: by name."""
    of = {name: (at, group.window) for at, group in enumerate(groups) for name in group.names}
    return [Sight(*of[name], getattr(layer.impl, "sinks", None)) for name, layer in layers.items()]


class NestedForward(Forward):
    """
    Runs vLLM's model on tokens of requests at their true positions.

    Weights, experts and tensor-parallel layers are the engine's, and so is the operation that writes keys and values to
    pages. Attention is given, or else the engine's own, to which each run of neighbouring rows looks like a request.
    """

    def __init__(self, config: "VllmConfig", model: Any, groups: "LayerGroups", layers: dict[str, Any]) -> None:
        """layers: the attention layers by name, in the order of the model."""
        self._config = config
        self._model = model
        self._names = list(layers)
        first = next(iter(layers.values()))
        self._device = torch.device(config.device_config.device)
        builder = first.get_attn_backend().get_builder_cls()
        # separate builders: the engine's builders keep buffers that a running step may still read, as do those of page
        # selection, which share theirs
        builder = getattr(builder, "stock", builder)
        self._builders = [
            (group.names, builder(group.spec, list(group.names), config, self._device)) for group in groups
        ]
        self._block_size = groups.spec.block_size
        # builders size their buffers for no more requests
        self._most_runs = config.scheduler_config.max_num_seqs
        self.most_rows = config.scheduler_config.max_num_batched_tokens
        """compiled code is made for no more rows in a pass"""
        self._updates_in_forward = first.get_attn_backend().forward_includes_kv_cache_update
        self._axes: int = config.model_config.mrope_num_dims if config.model_config.uses_mrope else 0
        self._takes_embeddings = (
            config.model_config.supports_multimodal_inputs or config.model_config.enable_prompt_embeds
        )
        self._rest = _rest_of(model, self.most_rows) if config.model_config.supports_multimodal_inputs else {}
        for index, layer in enumerate(layers.values()):
            self._intercept(layer, index)

    def answer(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor | None:
        hidden = self._run(tokens, positions, attend=attend, is_whole=True)
        logits = self._model.compute_logits(hidden[-1:])
        return None if logits is None else logits[0]

    def compute(self, tokens: torch.Tensor, rows: torch.Tensor, requests: Requests) -> None:
        for runs in to_passes(rows, requests.counts, self._most_runs):
            self._compute(tokens, requests, runs)

    def add_up(self, scores: torch.Tensor) -> torch.Tensor:
        return tensor_model_parallel_all_reduce(scores)

    def _compute(self, tokens: torch.Tensor, requests: Requests, runs: Runs) -> None:
        metadata: dict[str, Any] = {}
        slots: dict[str, torch.Tensor] = {}
        for (names, builder), blocks in zip(
            self._builders, zip(*(one.unbind() for one in requests.blocks), strict=True), strict=True
        ):
            common = self._describe(runs, blocks)
            metadata |= dict.fromkeys(names, builder.build(0, common))
            slots |= dict.fromkeys(names, common.slot_mapping)
        self._run(tokens[runs.begin : runs.begin + len(runs.rows)], runs.rows, metadata, slots)

    def _describe(self, runs: Runs, blocks: Sequence[torch.Tensor]) -> CommonAttentionMetadata:
        """Describes runs to a builder, given each request's blocks (int64 [m]) for a group of layers."""
        device, count = self._device, len(runs.requests)
        lengths = runs.starts[1:] - runs.starts[:-1]
        tables = torch.zeros(len(blocks), max(map(len, blocks)), dtype=torch.int32, device=device)
        for table, one in zip(tables, blocks, strict=True):
            table[: len(one)] = one
        at = tables[runs.requests.repeat_interleave(lengths), runs.rows // self._block_size].long()
        return CommonAttentionMetadata(
            query_start_loc=runs.starts.to(device),
            query_start_loc_cpu=runs.starts.cpu(),
            seq_lens=runs.ends.to(device),
            num_reqs=count,
            num_actual_tokens=len(runs.rows),
            max_query_len=int(lengths.max()),
            max_seq_len=int(runs.ends.max()),
            block_table_tensor=tables[runs.requests],
            slot_mapping=at * self._block_size + runs.rows % self._block_size,
            causal=True,
            positions=runs.rows,
            seq_lens_cpu_upper_bound=runs.ends.cpu(),
            is_prefilling=torch.ones(count, dtype=torch.bool),
        )

    def _run(
        self, tokens: torch.Tensor, positions: torch.Tensor, metadata: dict[str, Any] | None = None,
        slots: dict[str, torch.Tensor] | None = None, *, attend: Attend | None = None,
        written: torch.Tensor | None = None, is_whole: bool = False,
    ) -> torch.Tensor | None:  # fmt: skip
        """Returns what the model returns, if it is run to its end (`is_whole`).

        attend   in place of the engine's attention, which would read `metadata` and write to `slots`, by layer
        written  slots that keys and values are written to, in every layer
        """
        group = get_kv_transfer_group()
        # connectors hook into every layer while they have metadata, but this pass must not reach them
        bound, group._connector_metadata = group._connector_metadata, None
        self._attend, self._slots, self._is_under_way = attend, written, not is_whole
        if written is not None and not self._updates_in_forward:
            slots = dict.fromkeys(self._names, written)
        metadata = metadata or dict.fromkeys(self._names)
        try:
            with (
                self._at_rest(),
                set_forward_context(metadata, self._config, num_tokens=len(positions), slot_mapping=slots or {}),
            ):
                return self._model(**self._inputs(tokens, positions), intermediate_tensors=None)
        except LastLayerReached:
            return None
        finally:
            self._attend, self._slots, self._is_under_way = None, None, False
            group._connector_metadata = bound

    def _inputs(self, tokens: torch.Tensor, positions: torch.Tensor) -> dict[str, torch.Tensor | None]:
        """Returns what the model is called with, as its runner does: compiled code has dropped its guards."""
        tokens, positions = tokens.int(), positions.long()
        if self._axes:
            # text has the same position on all axes; like the runner's, rows do not follow one another in memory
            rows = positions.new_empty(self._axes, len(positions) + 1)[:, :-1]
            positions = rows.copy_(positions)
        if not self._takes_embeddings:
            return {"input_ids": tokens, "positions": positions, "inputs_embeds": None}
        needs_both = getattr(self._model, "requires_raw_input_tokens", False)
        embeddings = self._model.embed_input_ids(tokens)
        return {"input_ids": tokens if needs_both else None, "positions": positions, "inputs_embeds": embeddings}

    @contextmanager
    def _at_rest(self) -> Iterator[None]:
        """Hides what a model that sees or hears has left in itself for the step's own forward: ours would take it."""
        own = vars(self._model)
        left = {name: own[name] for name in self._rest if name in own and not callable(own[name])}
        own.update((name, self._rest[name]) for name in left)
        try:
            yield
        finally:
            own.update(left)

    def _intercept(self, layer: Any, index: int) -> None:
        engines = layer.impl.forward
        is_last = index == len(self._names) - 1

        def forward(
            layer: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, cache: Any, metadata: Any,
            output: torch.Tensor, *rest: Any, **named: Any,
        ) -> torch.Tensor:  # fmt: skip
            ends_here, slots = is_last and self._is_under_way, self._slots
            if self._attend is not None:
                if slots is not None and self._updates_in_forward:
                    layer.impl.do_kv_cache_update(layer, key, value, cache, slots)
                # of rows whose keys and values are written, nobody reads what the last layer would give
                if slots is None or not ends_here:
                    if query.element_size() == 1:
                        # on GPUs, queries of fp8 keys are fp8 as well
                        query = query.to(key.dtype) * layer._q_scale_float
                    self._attend(index, query, key, value, output)
            elif self._updates_in_forward or not ends_here:
                output = engines(layer, query, key, value, cache, metadata, output, *rest, **named)
            if ends_here:
                raise LastLayerReached
            return output

        layer.impl.forward = forward
