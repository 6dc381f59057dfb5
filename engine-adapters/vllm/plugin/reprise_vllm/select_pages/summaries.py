"""Summaries of the pages of sparse requests, read back from the engine's cache."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reprise_pages.selectors import LayerSelector
from reprise_vllm.engine.page_layout import PageLayout
from reprise_vllm.select_pages.check_engine import Shape

_FEW_PAGES = 64
"""so few that launches, not bytes, take the time on a GPU"""


class PageSummaries:
    """
    The selector's summary of each page: float32 [layers, slots, heads, numbers, pages], ready to multiply with queries.

    A request's pages are summarised from the cache when it first becomes sparse, and later one by one as they fill. So
    it does not matter what filled them (a prefix hit, a connector, a forward before a preemption), and nothing must be
    undone.
    """

    def __init__(
        self, selector: LayerSelector, shape: Shape, layers: Sequence[Any], slots: int, device: torch.device
    ) -> None:
        self._selector, self._shape, self._layers = selector, shape, layers
        numbers = selector.numbers(shape.head_dim)
        self.values = torch.zeros(len(layers), slots, shape.heads, numbers, shape.most_pages, device=device)
        self._layout: PageLayout | None = None

    @property
    def layout(self) -> PageLayout:
        """Where keys and values are in a page. Probed on first use, when the caches exist."""
        if self._layout is None:
            first = self._layers[0]
            self._layout = PageLayout(first, first.kv_cache, first.kv_cache.shape[0], self._shape.page)
        return self._layout

    def add(self, slots: np.ndarray, begin: np.ndarray, end: np.ndarray, table: torch.Tensor) -> None:
        """
        Summarises pages [begin, end) (int64 [S] each) of the requests in these slots (int64 [S]).

        table  [S, W]: their blocks
        """
        counts = end - begin
        row = np.repeat(np.arange(len(slots)), counts)
        # 0, 1, 2, … within each request
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        device = self.values.device
        page = torch.from_numpy(np.repeat(begin, counts) + within).to(device)
        slot = torch.from_numpy(np.repeat(slots, counts)).to(device)
        blocks = table[torch.from_numpy(row).to(device), page].long()
        if not self.values.numel():
            return
        first = page * self._shape.page
        if device.type == "cuda" and len(blocks) <= _FEW_PAGES:
            keys = torch.cat([self.layout.keys_of(layer.kv_cache, blocks) for layer in self._layers])
            summaries = self._selector.summarise(keys, first.repeat(len(self._layers)))
            of_layers = summaries.unflatten(0, (len(self._layers), -1))
            self.values[:, slot, :, :, page] = of_layers.transpose(0, 1)
            return
        for layer, values in zip(self._layers, self.values, strict=True):
            keys = self.layout.keys_of(layer.kv_cache, blocks)
            values[slot, :, :, page] = self._selector.summarise(keys, first)
