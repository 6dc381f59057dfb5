"""Page selection in a worker: lists the pages of sparse requests, and rewrites the attention kernel's metadata."""

from collections.abc import Sequence
from logging import Logger
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from reprise_pages.choice import always_listed, best_pages, budget_pages
from reprise_vllm.select_pages.engine import Shape
from reprise_vllm.select_pages.rows import NONE, SparseRows
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.step import Only, SparseStep, take
from reprise_vllm.select_pages.summaries import PageSummaries
from reprise_vllm.select_pages.uncertainty import Uncertain

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


class PageSelection:
    """
    The page selection of one worker and group of layers.

    Tensors passed to kernels are allocated once, as captured graphs require, and filled again in each step.
    """

    def __init__(
        self,
        settings: PageSettings,
        selector: Any,
        shape: Shape,
        layers: Sequence[Any],
        rows: SparseRows,
        uncertain: Uncertain | None,
        device: torch.device,
        logger: Logger,
    ) -> None:
        """layers: the attention layers in the order of the model."""
        self.shape, self.layers, self.rows = shape, layers, rows
        self._uncertain, self._device, self._logger = uncertain, device, logger
        self.choose_by(selector, settings)
        self.table: torch.Tensor | None = None
        self.lengths: torch.Tensor | None = None
        self.is_proven = False
        self.refusal: str | None = None
        """why nothing is selected any more; None while selecting"""

    def choose_by(self, selector: Any, settings: PageSettings) -> None:
        """Chooses pages with `selector` from now on. Call this only while no request is sparse."""
        self.selector, self.settings = selector, settings
        slots = settings.requests
        self.summaries = PageSummaries(selector, self.shape, self.layers, slots, self._device)
        lists = len(self.layers) if selector.per_layer else 1
        # physical blocks of the chosen pages
        self.chosen = torch.zeros(lists, slots, self.shape.most_pages, dtype=torch.int32, device=self._device)

    # ---- in the builder

    def rewrite(self, common: "CommonAttentionMetadata", *, all_pages: bool = False) -> SparseStep | None:
        """
        Returns a step with shorter tables and lengths for decoding rows of sparse requests, for the stock builder.

        Returns None if no row is sparse. `all_pages`: list all pages, for the self-test.
        """
        count = common.num_reqs
        if self.refusal is not None or not len(self.rows) or common.is_prefilling is None:
            return None
        if bool(common.is_prefilling[:count].all()):
            return None
        holders = np.arange(count) if common.req_idx is None else np.asarray(common.req_idx)
        slots = self.rows.slots(holders[:count])
        lengths = common.seq_lens_cpu_upper_bound.numpy()[:count].astype(np.int64)
        starts = common.query_start_loc_cpu.numpy()[: count + 1]
        decodes = (np.diff(starts) == 1) & ~common.is_prefilling.numpy()[:count] & (slots[:count] != NONE)
        is_long = lengths >= self.settings.least_tokens
        self._count_dense(slots[decodes & ~is_long], lengths[decodes & ~is_long])
        sparse = np.flatnonzero(decodes & is_long)
        if not len(sparse):
            return None
        return self._rewrite(common, sparse, slots[sparse], lengths, starts[sparse], all_pages)

    def _rewrite(
        self,
        common: "CommonAttentionMetadata",
        sparse: np.ndarray,
        slots: np.ndarray,
        lengths: np.ndarray,
        queries: np.ndarray,
        all_pages: bool,
    ) -> SparseStep:
        rows, page = self.rows, self.shape.page
        mine = lengths[sparse]
        # this step's token is not written yet
        full, total = (mine - 1) // page, -(-mine // page)
        at, row = self._to_device(sparse), int(sparse[0])
        source = common.block_table_tensor.index_select(0, at)
        filled = full > rows.summed[slots]
        if filled.any():
            self.summaries.add(slots[filled], rows.summed[slots[filled]], full[filled], source[self._to_device(filled)])
        due, again = self._due(slots, filled)
        rows.summed[slots] = full
        rows.age[slots] += 1
        ratio = np.ones(len(slots)) if all_pages else rows.ratio[slots]
        listed = budget_pages(full, ratio, self.settings.sinks, self.settings.recent)
        rows.listed[slots[due]], rows.chosen_at[slots[due]], rows.age[slots[due]] = listed[due], full[due], 0
        listed, since = rows.listed[slots], rows.chosen_at[slots]
        kept = listed + total - since
        step = self._step_of(common, at, row, slots, queries, source, due, full, listed, since, total, kept)
        shorter = lengths.copy()
        shorter[sparse] = mine - (total - kept) * page
        self._count(slots, due & (not all_pages), again, kept, total)
        self.rows.counts["pages_choices", "made"] += int(due.sum())
        if not self.selector.per_layer:
            self._choose_for_all_layers(step, full[due])
            self._list_pages(step, 0)
        step.rewritten = self._replaced(common, shorter)
        return step

    def _due(self, slots: np.ndarray, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns which requests (bool [S]) choose pages in this step, and which of them because of uncertainty."""
        rows, every = self.rows, self.settings.every
        new = rows.listed[slots] == 0
        if every:
            return new | (rows.age[slots] + 1 >= every), np.zeros_like(new)
        if self._uncertain is None:
            return new | filled, np.zeros_like(new)
        # ask only for requests that filled a page, because taking a trigger clears it
        again = np.zeros_like(new)
        again[filled] = self._uncertain.take_triggered(slots[filled])
        return new | again, again & ~new

    def _step_of(
        self,
        common: "CommonAttentionMetadata",
        at: torch.Tensor,
        row: int,
        slots: np.ndarray,
        queries: np.ndarray,
        source: torch.Tensor,
        due: np.ndarray,
        full: np.ndarray,
        listed: np.ndarray,
        since: np.ndarray,
        total: np.ndarray,
        kept: np.ndarray,
    ) -> SparseStep:
        place = np.arange(kept.max())
        is_listed = place < listed[:, None]
        behind = np.clip(since[:, None] + place - listed[:, None], 0, total[:, None] - 1)
        step = SparseStep(
            rows=at, slots=self._to_device(slots), queries=self._to_device(queries.astype(np.int64)), source=source,
            is_listed=self._to_device(is_listed), tail=source.gather(1, self._to_device(behind)),
            due=None, due_slots=None, due_most=0, due_full=0, always=None, there=None, stock=common,
        )  # fmt: skip
        if len(slots) == 1:
            step.only = Only(row, int(slots[0]), int(queries[0]), int(listed[0]))
        if due.any():
            ends = self._to_device(full[due])
            step.due_full, step.due_most = int(full[due].max()), int(listed[due].max())
            step.due, step.due_slots = self._to_device(np.flatnonzero(due)), self._to_device(slots[due])
            step.always = always_listed(ends, step.due_full, self.settings.sinks, self.settings.recent)
            step.there = torch.arange(step.due_full, device=self._device) < ends[:, None]
        table, lengths = self._buffers(common)
        table.copy_(common.block_table_tensor)
        lengths.copy_(common.seq_lens)
        lengths[at] -= self._to_device((total - kept) * self.shape.page).to(lengths.dtype)
        table[at, : len(place)] = step.tail
        return step

    def _replaced(self, common: "CommonAttentionMetadata", lengths: np.ndarray) -> "CommonAttentionMetadata":
        table, device_lengths = self._buffers(common)
        bound = common.seq_lens_cpu_upper_bound
        return common.replace(
            block_table_tensor=table,
            seq_lens=device_lengths,
            seq_lens_cpu_upper_bound=torch.from_numpy(lengths).to(bound.dtype),
            max_seq_len=int(lengths.max()),
            # computed from the old lengths
            _num_computed_tokens_cache=None,
        )

    def _buffers(self, common: "CommonAttentionMetadata") -> tuple[torch.Tensor, torch.Tensor]:
        """Returns our own table and lengths for this batch: views of tensors whose addresses never change."""
        given = common.block_table_tensor
        if self.table is None:
            rows = max(self.shape.rows, given.shape[0])
            self.table = torch.zeros(rows, given.shape[1], dtype=given.dtype, device=self._device)
            self.lengths = torch.zeros(rows, dtype=common.seq_lens.dtype, device=self._device)
        return self.table[: given.shape[0], : given.shape[1]], self.lengths[: common.seq_lens.shape[0]]

    # ---- choosing

    def in_layer(self, step: SparseStep, index: int, query: torch.Tensor) -> None:
        """Lists the pages that this layer reads. query: of the whole step, [tokens, heads, size] or flat."""
        if step.due is not None:
            shape, only = self.shape, step.only
            if only is None:
                at = step.queries if len(step.due) == len(step.queries) else step.queries[step.due]
                mine = query.index_select(0, at)
            else:
                mine = query[only.query : only.query + 1]
            mine = mine.view(-1, shape.heads, shape.queries, shape.head_dim).float() * shape.scale
            summary = take(self.summaries.values[index], step.due_slots, only)[..., : step.due_full]
            self._keep(step, index, self.selector.scores(mine, summary, step.there, shape.page))
        self._list_pages(step, index)

    def _choose_for_all_layers(self, step: SparseStep, full: np.ndarray) -> None:
        if step.due is not None:
            summary = self.summaries.values.index_select(1, step.due_slots)[..., : step.due_full]
            scores = self.selector.scores(summary, self._to_device(full), self.settings.recent)
            self._keep(step, 0, scores)

    def _keep(self, step: SparseStep, index: int, scores: torch.Tensor) -> None:
        pages = best_pages(scores, step.always, step.due_most)
        if step.only is not None:
            self.chosen[index, step.only.slot, : step.due_most] = step.source[0].index_select(0, pages[0])
            return
        source = step.source if len(step.due) == len(step.source) else step.source.index_select(0, step.due)
        self.chosen[index, step.due_slots, : step.due_most] = source.gather(1, pages)

    def _list_pages(self, step: SparseStep, index: int) -> None:
        """Writes the chosen pages into the table. The pages after them were written when the step began."""
        if step.only is not None:
            row, slot, listed = step.only.row, step.only.slot, step.only.listed
            self.table[row, :listed] = self.chosen[index, slot, :listed]
            return
        most = min(step.tail.shape[1], self.chosen.shape[2])
        chosen = self.chosen[index].index_select(0, step.slots)[:, :most]
        self.table[step.rows, :most] = torch.where(step.is_listed[:, :most], chosen, step.tail[:, :most])

    # ---- around it

    def forget_choices(self, step: SparseStep) -> None:
        """Makes the step's requests choose again in the next step."""
        self.rows.listed[step.slots.cpu().numpy()] = 0

    def give_up(self, reason: str, error: BaseException | None = None) -> None:
        """Stops selecting for good. The engine continues as stock."""
        self.refusal = reason
        self.rows.counts["pages_refused", reason] += 1
        self.rows.forget_figures()
        self._logger.error("reprise: no pages are selected any more: %s", reason, exc_info=error)

    def _count(
        self, slots: np.ndarray, due: np.ndarray, again: np.ndarray, kept: np.ndarray, total: np.ndarray
    ) -> None:
        counts = self.rows.counts
        counts["pages_read", "listed"] += int(kept.sum())
        counts["pages_read", "all"] += int(total.sum())
        counts["pages_choices", "backtracks"] += int(again.sum())
        self.rows.figures[slots] += np.stack([kept, total, due, again], 1)

    def _count_dense(self, slots: np.ndarray, lengths: np.ndarray) -> None:
        """Counts decode steps of requests with a slot that still read all their pages."""
        total = -(-lengths // self.shape.page)
        none = np.zeros_like(total)
        self.rows.figures[slots] += np.stack([total, total, none, none], 1)

    def _to_device(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, non_blocking=True)
