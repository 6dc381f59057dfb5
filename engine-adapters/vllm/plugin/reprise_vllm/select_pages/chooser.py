"""Chooses the pages of a step: in each layer, or once for all layers."""

from logging import Logger
from typing import Any

import torch

from reprise_pages.choice import always_listed, best_pages
from reprise_pages.selectors import AttentionMass
from reprise_vllm.select_pages.check_engine import Shape
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.summaries import PageSummaries
from reprise_vllm.select_pages.tables import KernelTables, SparseStep, Step


class PageChooser:
    """The lists of all slots and layers, and what makes them."""

    def __init__(
        self, selector: Any, settings: PageSettings, shape: Shape, summaries: PageSummaries, tables: KernelTables,
        device: torch.device, logger: Logger,
    ) -> None:  # fmt: skip
        self._selector, self._settings, self._shape = selector, settings, shape
        self._summaries, self._tables, self._logger = summaries, tables, logger
        self.goes_by_kernels = device.type == "cuda" and isinstance(selector, AttentionMass)
        lists = len(summaries.values) if selector.per_layer else 1
        # physical blocks of the chosen pages
        self.chosen = torch.zeros(lists, *tables.source.shape, dtype=torch.int32, device=device)
        self._for_kernels: Any = None

    def in_layer(self, step: Step, index: int, query: torch.Tensor) -> None:
        """
        Writes the pages that this layer reads into the table. query: of the whole step, [tokens, heads, size] or flat.

        In a captured step it launches the same kernels on the same addresses, whatever is sparse.
        """
        if self.goes_by_kernels and self._by_kernels(step, index, query):
            return
        if step.is_captured:
            raise RuntimeError("kernels cannot choose pages")
        if step.due:
            self._by_torch(step, index, query)
        self._tables.write(step, self.chosen[index])

    def warm_up(self, dtype: torch.dtype) -> None:
        """Compiles what layers of a captured step launch for queries of this type, which a capture does not allow."""
        if self._for_kernels is None:
            shape = self._shape
            query = self.chosen.new_zeros(1, shape.heads * shape.queries, shape.head_dim, dtype=dtype)
            self.in_layer(Step(is_captured=True), 0, query)

    def for_all_layers(self, step: SparseStep) -> None:
        """Chooses the requests' pages, and writes all lists."""
        if step.due:
            summary = self._summaries.values.index_select(1, step.slots[: step.due])[..., : step.due_full]
            self._keep(step, 0, self._selector.scores(summary, self._ends(step), self._settings.recent))
        self._tables.write(step, self.chosen[0])

    def _by_kernels(self, step: Step, index: int, query: torch.Tensor) -> bool:
        """Chooses and lists pages in three launches. Returns False, and leaves it to torch for good, after a fault."""
        shape, settings, tables = self._shape, self._settings, self._tables
        try:
            from reprise_kernels.choose_pages import Due, choose_pages

            if self._for_kernels is None:
                self._for_kernels = Due(tables.where, tables.source, shape.most_pages, tables.due)
            choose_pages(
                query.view(-1, shape.heads * shape.queries, shape.head_dim), self._summaries.values[index],
                self._for_kernels, shape.page, shape.scale, settings.sinks, settings.recent, self.chosen[index],
                tables.blocks, only_list=not (step.is_captured or step.due),
            )  # fmt: skip
        except Exception as error:
            self.goes_by_kernels = False
            self._logger.warning("reprise: pages are chosen by torch, not by kernels: %s", error)
        return self.goes_by_kernels

    def _by_torch(self, step: SparseStep, index: int, query: torch.Tensor) -> None:
        shape, only, due = self._shape, step.only, step.due
        summaries = self._summaries.values[index]
        if only is None:
            mine, summaries = query.index_select(0, step.queries[:due]), summaries.index_select(0, step.slots[:due])
        else:
            # views: a request's summaries need not be copied
            mine, summaries = query.narrow(0, only.query, 1), summaries.narrow(0, only.slot, 1)
        mine = mine.view(-1, shape.heads, shape.queries, shape.head_dim).float() * shape.scale
        there = torch.arange(step.due_full, device=query.device) < self._ends(step)[:, None]
        self._keep(step, index, self._selector.scores(mine, summaries[..., : step.due_full], there, shape.page))

    def _keep(self, step: SparseStep, index: int, scores: torch.Tensor) -> None:
        """Keeps the blocks of the best pages."""
        if step.always is None:
            sinks, recent = self._settings.sinks, self._settings.recent
            step.always = always_listed(self._ends(step), step.due_full, sinks, recent)
        pages = best_pages(scores, step.always, step.due_listed)
        self.chosen[index, step.slots[: step.due], : step.due_listed] = self._tables.source[: step.due].gather(1, pages)

    def _ends(self, step: SparseStep) -> torch.Tensor:
        """Returns the number of complete pages of each request that chooses: int64 [due]."""
        return self._tables.where[: step.due, 2].long()
