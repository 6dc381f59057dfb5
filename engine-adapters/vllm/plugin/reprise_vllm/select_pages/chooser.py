"""Summarises the pages of sparse requests, and chooses those of a step: in each layer, or once for all layers."""

from collections.abc import Sequence
from logging import Logger
from typing import Any

import numpy as np
import torch

from reprise_pages.choice import always_listed, best_pages, pages_between
from reprise_pages.selectors import AttentionMass
from reprise_vllm.engine.page_layout import PageLayout
from reprise_vllm.select_pages.check_engine import Shape
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.tables import KernelTables, SparseStep, Step

_FEW_PAGES = 64
"""so few that launches, not bytes, take the time on a GPU"""


class PageChooser:
    """
    The summaries and the lists of all slots and layers, and what makes them.

    A request's pages are summarised from the cache when it first becomes sparse, and later one by one as they fill. So
    it does not matter what filled them (a prefix hit, a connector, a forward before a preemption), and nothing must be
    undone.
    """

    def __init__(
        self, selector: Any, settings: PageSettings, shape: Shape, layers: Sequence[Any], tables: KernelTables,
        device: torch.device, logger: Logger,
    ) -> None:  # fmt: skip
        self._selector, self._settings, self._shape, self._layers = selector, settings, shape, layers
        self._tables, self._logger = tables, logger
        self.goes_by_kernels = device.type == "cuda" and isinstance(selector, AttentionMass)
        numbers, slots = selector.numbers(shape.head_dim), settings.requests
        # float32 [layers, slots, heads, numbers, pages], ready to multiply with queries
        self._summaries = torch.zeros(len(layers), slots, shape.heads, numbers, shape.most_pages, device=device)
        lists = len(layers) if selector.per_layer else 1
        # physical blocks of the chosen pages
        self.chosen = torch.zeros(lists, *tables.source.shape, dtype=torch.int32, device=device)
        self._for_kernels: Any = None
        self._layout: PageLayout | None = None

    @property
    def layout(self) -> PageLayout:
        """Where keys and values are in a page. Probed on first use, when the caches exist."""
        if self._layout is None:
            first = self._layers[0]
            self._layout = PageLayout(first, first.kv_cache, first.kv_cache.shape[0], self._shape.page)
        return self._layout

    def summarise(self, slots: np.ndarray, begin: np.ndarray, end: np.ndarray, table: torch.Tensor) -> None:
        """
        Summarises pages [begin, end) (int64 [S] each) of the requests in these slots (int64 [S]).

        table  [S, W]: their blocks
        """
        device = self._summaries.device
        row, slot, page = (torch.from_numpy(one).to(device) for one in pages_between(slots, begin, end))
        blocks = table[row, page].long()
        if not self._summaries.numel():
            return
        first = page * self._shape.page
        if device.type == "cuda" and len(blocks) <= _FEW_PAGES:
            keys = torch.cat([self.layout.keys_of(layer.kv_cache, blocks) for layer in self._layers])
            summaries = self._selector.summarise(keys, first.repeat(len(self._layers)))
            of_layers = summaries.unflatten(0, (len(self._layers), -1))
            self._summaries[:, slot, :, :, page] = of_layers.transpose(0, 1)
            return
        for layer, values in zip(self._layers, self._summaries, strict=True):
            keys = self.layout.keys_of(layer.kv_cache, blocks)
            values[slot, :, :, page] = self._selector.summarise(keys, first)

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
            summary = self._summaries.index_select(1, step.slots[: step.due])[..., : step.due_full]
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
                query.view(-1, shape.heads * shape.queries, shape.head_dim), self._summaries[index],
                self._for_kernels, shape.page, shape.scale, settings.sinks, settings.recent, self.chosen[index],
                tables.blocks, only_list=not (step.is_captured or step.due),
            )  # fmt: skip
        except Exception as error:
            self.goes_by_kernels = False
            self._logger.warning("reprise: pages are chosen by torch, not by kernels: %s", error)
        return self.goes_by_kernels

    def _by_torch(self, step: SparseStep, index: int, query: torch.Tensor) -> None:
        shape, only, due = self._shape, step.only, step.due
        summaries = self._summaries[index]
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
