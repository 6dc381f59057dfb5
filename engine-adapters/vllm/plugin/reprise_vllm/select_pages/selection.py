"""Page selection in a worker: lists the pages of sparse requests, and rewrites the attention kernel's metadata."""

from collections.abc import Sequence
from logging import Logger
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from reprise_pages.choice import budget_pages
from reprise_vllm.select_pages.check_engine import Shape
from reprise_vllm.select_pages.chooser import PageChooser
from reprise_vllm.select_pages.proof import prove
from reprise_vllm.select_pages.settings import LEAST_SAVING, PageSettings
from reprise_vllm.select_pages.sparse_rows import NONE, SparseRows
from reprise_vllm.select_pages.tables import STEP, KernelTables, Only, SparseStep, Step
from reprise_vllm.select_pages.uncertainty import Uncertain

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata


class Found(NamedTuple):
    """The rows of a step, without those that pad the batch."""

    holders: np.ndarray
    slots: np.ndarray
    """int64 [B], `NONE` for dense requests"""
    lengths: np.ndarray
    """int64 [B]"""
    starts: np.ndarray
    """int32 [B + 1]: of their tokens"""
    sparse: np.ndarray
    """int64 [S]"""
    dense: np.ndarray
    """int64: decoding requests with a slot that read all their pages"""


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
        *,
        in_graphs: bool = False,
    ) -> None:
        """layers: the attention layers in the order of the model; in_graphs: full CUDA graphs run them."""
        self.in_graphs = in_graphs
        self.shape, self.layers, self.rows = shape, layers, rows
        self._uncertain, self._device, self._logger = uncertain, device, logger
        self.choose_by(selector, settings)
        self.is_proven = False
        self.refusal: str | None = None
        """why nothing is selected any more; None while selecting"""

    def choose_by(self, selector: Any, settings: PageSettings) -> None:
        """Chooses pages with `selector` from now on. Call this only while no request is sparse."""
        self.selector, self.settings = selector, settings
        self.tables = KernelTables(self.shape, settings.requests, self._device)
        self.chooser = PageChooser(
            selector, settings, self.shape, self.layers, self.tables, self._device, self._logger
        )  # fmt: skip
        self.in_layer = self.chooser.in_layer

    def metadata(self, common: "CommonAttentionMetadata", build: Any, *, is_captured: bool = False) -> Any:
        """
        Returns the metadata that the layers get in a step.

        build  the stock builder's: `build(common, fast_build)`
        is_captured  a full CUDA graph captures the step: nothing is sparse, but its layers choose in later steps

        With full graphs it always reads our tables. Before the first sparse request a self-test is run. Any fault ends
        selection for good, and the step is dense.
        """
        # outside of a step nobody is told to be prefilling, nor is anybody sparse
        if common.is_prefilling is None and not is_captured:
            return build(common)
        step = made = None
        try:
            if self.refusal is None and is_captured:
                if self.selector.per_layer:
                    self.chooser.warm_up(self.layers[0].kv_cache.dtype)
                step = Step(is_captured=True)
            elif self.refusal is None:
                if not self.is_proven:
                    self._prove(common, build)
                if (step := self.rewrite(common)) is not None:
                    step.build, made = build, build(step.rewritten)
        except Exception as error:
            self.give_up("fault", error)
            step = made = None
        if made is None:
            made = build(self.tables.take(common) if self.in_graphs else common)
        if step is not None and self.selector.per_layer:
            setattr(made, STEP, step)
        return made

    def _prove(self, common: "CommonAttentionMetadata", build: Any) -> None:
        """Runs the self-test if a request would be sparse. Leaves no trace of what it lists."""
        found = self._find(common)
        if found is None or not len(found.sparse):
            return
        row = int(found.sparse[0])
        counts, figures = self.rows.counts.copy(), self.rows.figures.copy()
        wrong = None
        try:
            prove(self, common, row, int(found.holders[row]), build)
        except Exception as error:
            wrong = error
        self.rows.counts, self.rows.figures = counts, figures
        self.rows.listed[found.slots[row]] = 0
        self.is_proven = wrong is None
        if wrong is not None:
            self.give_up("self_test", wrong)

    def rewrite(self, common: "CommonAttentionMetadata", *, all_pages: bool = False) -> SparseStep | None:
        """
        Returns a step with shorter tables and lengths for decoding rows of sparse requests, for the stock builder.

        Returns None if no row is sparse. `all_pages`: list all pages, for the self-test.
        """
        found = self._find(common, all_pages=all_pages)
        if found is None:
            return None
        dense = -(-found.lengths[found.dense] // self.shape.page)
        self.rows.count(found.slots[found.dense], dense, dense, 0 * dense, 0 * dense)
        return self._rewrite(common, found, all_pages) if len(found.sparse) else None

    def _find(self, common: "CommonAttentionMetadata", *, all_pages: bool = False) -> "Found | None":
        is_prefilling = common.is_prefilling.numpy()[: common.num_reqs]
        if self.refusal is not None or not len(self.rows) or is_prefilling.all():
            return None
        # with a full graph the batch is padded by rows without tokens
        count = len(is_prefilling)
        holders = np.arange(count) if common.req_idx is None else np.asarray(common.req_idx)[:count]
        slots = self.rows.slots(holders)
        lengths = common.seq_lens_cpu_upper_bound.numpy()[:count].astype(np.int64)
        starts = common.query_start_loc_cpu.numpy()[: count + 1]
        decodes = (np.diff(starts) == 1) & ~is_prefilling & (slots != NONE)
        is_long = (lengths >= self.settings.least_tokens) | all_pages
        if not all_pages:
            is_long &= self._pays(lengths[decodes & is_long], slots[decodes & is_long])
        return Found(
            holders, slots, lengths, starts, np.flatnonzero(decodes & is_long), np.flatnonzero(decodes & ~is_long)
        )

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

    def _rewrite(self, common: "CommonAttentionMetadata", found: "Found", all_pages: bool) -> SparseStep:
        rows, page, settings, tables = self.rows, self.shape.page, self.settings, self.tables
        # this step's token is not written yet
        filled = (found.lengths[found.sparse] - 1) // page > rows.summed[found.slots[found.sparse]]
        due, again = self._due(found.slots[found.sparse], filled)
        # those first that choose in this step
        order = np.argsort(~due, kind="stable")
        sparse, filled, due, again = found.sparse[order], filled[order], due[order], again[order]
        slots, lengths, queries = found.slots[sparse], found.lengths[sparse], found.starts[sparse]
        full, total = (lengths - 1) // page, -(-lengths // page)
        shortened = tables.take(common)
        places = tables.on_device(np.stack([sparse, slots, queries]).astype(np.int64))
        source = tables.read(common.block_table_tensor, places[0])
        if filled.any():
            of = slice(None) if filled.all() else tables.on_device(filled.nonzero()[0])
            self.chooser.summarise(slots[filled], rows.summed[slots[filled]], full[filled], source[of])
        rows.summed[slots] = full
        rows.age[slots] += 1
        ratio = np.ones(len(slots)) if all_pages else rows.ratio[slots]
        listed = budget_pages(full, ratio, settings.sinks, settings.recent)
        rows.listed[slots[due]], rows.chosen_at[slots[due]], rows.age[slots[due]] = listed[due], full[due], 0
        listed, since = rows.listed[slots], rows.chosen_at[slots]
        kept = listed + total - since
        where = np.stack([queries, slots, full * due, listed, sparse], 1).astype(np.int32)
        tables.shorten(where, int(due.sum()), since, total, places[0])
        rows.count(slots, kept, total, due & (not all_pages), again)
        rows.counts["pages_read", "listed"] += int(kept.sum())
        rows.counts["pages_read", "all"] += int(total.sum())
        rows.counts["pages_choices", "backtracks"] += int(again.sum())
        rows.counts["pages_choices", "made"] += int(due.sum())
        after = found.lengths.copy()
        after[sparse] -= (total - kept) * page
        bound = common.seq_lens_cpu_upper_bound.clone()
        bound[: len(after)] = torch.from_numpy(after)
        step = SparseStep(
            # cached numbers are of the old lengths
            rewritten=shortened.replace(
                seq_lens_cpu_upper_bound=bound, max_seq_len=int(after[np.diff(found.starts) > 0].max()),
                _num_computed_tokens_cache=None,
            ),
            stock=common, rows=places[0], slots=places[1], queries=places[2], most_listed=int(listed.max()),
            due=int(due.sum()), due_listed=int((listed * due).max()), due_full=int((full * due).max()),
        )  # fmt: skip
        if len(slots) == 1:
            step.only = Only(int(sparse[0]), int(slots[0]), int(queries[0]), int(listed[0]))
        if not self.selector.per_layer:
            self.chooser.for_all_layers(step)
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

    def give_up(self, reason: str, error: BaseException | None = None) -> None:
        """Stops selecting for good. The engine continues as stock."""
        self.refusal = reason
        self.rows.counts["pages_refused", reason] += 1
        self.rows.forget_figures()
        self._logger.error("reprise: no pages are selected any more: %s", reason, exc_info=error)
