"""Page selection in a worker: lists the pages of sparse requests, and rewrites the attention kernel's metadata."""

from collections.abc import Sequence
from logging import Logger
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from reprise_pages.choice import always_listed, best_pages, budget_pages
from reprise_pages.selectors import AttentionMass
from reprise_vllm.select_pages.wishes.settings import LEAST_SAVING, PageSettings
from reprise_vllm.select_pages.worker.check_engine import Shape
from reprise_vllm.select_pages.worker.sparse_rows import NONE, SparseRows
from reprise_vllm.select_pages.worker.step import Only, SparseStep, take
from reprise_vllm.select_pages.worker.summaries import PageSummaries
from reprise_vllm.select_pages.worker.uncertainty import Uncertain

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


class PageSelection:
    """The page selection of one worker and group of layers."""

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
        self.is_proven = False
        self.refusal: str | None = None
        """why nothing is selected any more; None while selecting"""

    def choose_by(self, selector: Any, settings: PageSettings) -> None:
        """Chooses pages with `selector` from now on. Call this only while no request is sparse."""
        self.selector, self.settings = selector, settings
        slots = settings.requests
        self.summaries = PageSummaries(selector, self.shape, self.layers, slots, self._device)
        self._goes_by_kernels = self._device.type == "cuda" and isinstance(selector, AttentionMass)
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
        if not all_pages and not self._pays(lengths[decodes & is_long], slots[decodes & is_long]):
            is_long[:] = False
        self._count_dense(slots[decodes & ~is_long], lengths[decodes & ~is_long])
        sparse = np.flatnonzero(decodes & is_long)
        if not len(sparse):
            return None
        return self._rewrite(common, sparse, slots[sparse], lengths, starts[sparse], all_pages)

    def _pays(self, lengths: np.ndarray, slots: np.ndarray) -> bool:
        """Whether these requests leave so much unread that it is worth choosing."""
        least = self.settings.least_saving
        if least is None:
            least = LEAST_SAVING if self._device.type == "cuda" else 0
        full = (lengths - 1) // self.shape.page
        listed = budget_pages(full, self.rows.ratio[slots], self.settings.sinks, self.settings.recent)
        # keys and values
        of_token = 2 * self.shape.heads * self.shape.head_dim * self.layers[0].kv_cache.element_size()
        return int((full - listed).sum()) * self.shape.page * of_token * len(self.layers) >= least

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
        at = self._to_device(sparse)
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
        step = self._step_of(common, sparse, at, slots, queries, source, due, full, listed, since, total, kept)
        left_out = np.zeros_like(lengths)
        left_out[sparse] = (total - kept) * page
        self._count(slots, due & (not all_pages), again, kept, total)
        self.rows.counts["pages_choices", "made"] += int(due.sum())
        if not self.selector.per_layer:
            self._choose_for_all_layers(step, full[due])
        step.rewritten = self._replaced(common, step, lengths, left_out)
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
        sparse: np.ndarray,
        at: torch.Tensor,
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
        on_device = self._to_device(slots)
        step = SparseStep(
            rows=at, slots=on_device, queries=self._to_device(queries.astype(np.int64)), source=source,
            tables=self._tables(common, at, on_device, source, listed, since, total, kept), due=None, due_slots=None,
            due_most=0, due_full=0, always=None, there=None, where=None, due_source=None, for_kernels=None,
            stock=common,
        )  # fmt: skip
        if len(slots) == 1:
            step.only = Only(int(sparse[0]), int(slots[0]), int(queries[0]), int(listed[0]))
        if due.any():
            step.due_full, step.due_most = int(full[due].max()), int(listed[due].max())
            step.due, step.due_slots = self._to_device(np.flatnonzero(due)), self._to_device(slots[due])
            where = np.stack([queries, slots, full, listed, sparse], 1)[due]
            step.where = self._to_device(where.astype(np.int32))
            step.due_source = source if due.all() else source.index_select(0, step.due)
            ends = step.where[:, 2].long()
            step.always = always_listed(ends, step.due_full, self.settings.sinks, self.settings.recent)
            step.there = torch.arange(step.due_full, device=self._device) < ends[:, None]
        return step

    def _tables(
        self,
        common: "CommonAttentionMetadata",
        at: torch.Tensor,
        slots: torch.Tensor,
        source: torch.Tensor,
        listed: np.ndarray,
        since: np.ndarray,
        total: np.ndarray,
        kept: np.ndarray,
    ) -> torch.Tensor:
        """Returns the batch's tables, with what each sparse request chose before and the pages filled since."""
        given = common.block_table_tensor
        width = min(given.shape[1], max(int(kept.max()), -(-int(common.max_seq_len) // self.shape.page)))
        tables = given[:, :width].expand(len(self.chosen), -1, -1).clone()
        place = np.arange(kept.max())
        behind = np.clip(since[:, None] + place - listed[:, None], 0, total[:, None] - 1)
        tail = source.gather(1, self._to_device(behind))
        chosen = self.chosen.index_select(1, slots)[:, :, : len(place)]
        tables[:, at, : len(place)] = torch.where(self._to_device(place < listed[:, None]), chosen, tail)
        return tables

    def _replaced(
        self, common: "CommonAttentionMetadata", step: SparseStep, lengths: np.ndarray, left_out: np.ndarray
    ) -> "CommonAttentionMetadata":
        """Returns the engine's metadata with our first table, and without the tokens that are left out (both [B])."""
        shorter, lengths = common.seq_lens.clone(), lengths - left_out
        shorter[: len(lengths)] -= self._to_device(left_out).to(shorter.dtype)
        bound = common.seq_lens_cpu_upper_bound
        return common.replace(
            block_table_tensor=step.tables[0],
            seq_lens=shorter,
            seq_lens_cpu_upper_bound=torch.from_numpy(lengths).to(bound.dtype),
            max_seq_len=int(lengths.max()),
            # computed from the old lengths
            _num_computed_tokens_cache=None,
        )

    # ---- choosing

    def in_layer(self, step: SparseStep, index: int, query: torch.Tensor) -> None:
        """Lists the pages that this layer reads. query: of the whole step, [tokens, heads, size] or flat."""
        if step.due is None or (self._goes_by_kernels and self._chosen_by_kernels(step, index, query)):
            return
        shape, only = self.shape, step.only
        if only is None:
            at = step.queries if len(step.due) == len(step.queries) else step.queries[step.due]
            mine = query.index_select(0, at)
        else:
            mine = query[only.query : only.query + 1]
        mine = mine.view(-1, shape.heads, shape.queries, shape.head_dim).float() * shape.scale
        summary = take(self.summaries.values[index], step.due_slots, only)[..., : step.due_full]
        self._keep(step, index, self.selector.scores(mine, summary, step.there, shape.page))

    def _chosen_by_kernels(self, step: SparseStep, index: int, query: torch.Tensor) -> bool:
        """Chooses and lists pages in three launches. Returns False, and leaves it to torch for good, after a fault."""
        shape, settings = self.shape, self.settings
        try:
            from reprise_kernels.choose_pages import Due, choose_pages

            if step.for_kernels is None:
                step.for_kernels = Due(step.where, step.due_source, step.due_full)
            choose_pages(
                query.view(-1, shape.heads * shape.queries, shape.head_dim), self.summaries.values[index],
                step.for_kernels, shape.page, shape.scale, settings.sinks, settings.recent, self.chosen[index],
                step.tables[index],
            )  # fmt: skip
        except Exception as error:
            self._goes_by_kernels = False
            self._logger.warning("reprise: pages are chosen by torch, not by kernels: %s", error)
        return self._goes_by_kernels

    def _choose_for_all_layers(self, step: SparseStep, full: np.ndarray) -> None:
        if step.due is not None:
            summary = self.summaries.values.index_select(1, step.due_slots)[..., : step.due_full]
            scores = self.selector.scores(summary, self._to_device(full), self.settings.recent)
            self._keep(step, 0, scores)

    def _keep(self, step: SparseStep, index: int, scores: torch.Tensor) -> None:
        """Keeps the best pages, and writes them into the layer's table before the pages filled since."""
        pages = best_pages(scores, step.always, step.due_most)
        if step.only is not None:
            row, slot, _, listed = step.only
            blocks = step.source[0].index_select(0, pages[0])
            self.chosen[index, slot, : step.due_most] = blocks
            step.tables[index, row, :listed] = blocks[:listed]
            return
        blocks = step.due_source.gather(1, pages)
        self.chosen[index, step.due_slots, : step.due_most] = blocks
        rows, table = step.rows[step.due], step.tables[index]
        is_listed = torch.arange(step.due_most, device=self._device) < step.where[:, 3:4]
        table[rows, : step.due_most] = torch.where(is_listed, blocks, table[rows, : step.due_most])

    # ---- faults and counts

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
