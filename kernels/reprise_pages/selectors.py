"""The page selectors by name: what each keeps of a page, and how it scores pages."""

from typing import Protocol

import torch

from reprise_pages.affinity import KeyAffinity
from reprise_pages.mass import key_bounds, key_moments, log_mass, upper_bound


class LayerSelector(Protocol):
    """Chooses pages in each layer of a decode step, from that layer's queries."""

    per_layer: bool

    def numbers(self, head_dim: int) -> int:
        """C: how many numbers to keep per page, for each layer and KV head."""

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """
        Returns these numbers [n, H, C] for pages with keys [n, page, H, D]; first int64 [n]: a page's first position.
        """

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        """Returns the value of each page: float32 [S, P], finite.

        query    float32 [S, H, G, D], scaled as in attention, G queries per KV head
        summary  float32 [S, H, C, P]; there bool [S, P], which pages are complete; tokens per page
        """


class AttentionMass:
    """Our own selector: the share of attention that a page will get (`log_mass`), summed over heads."""

    per_layer = True

    def numbers(self, head_dim: int) -> int:
        return 2 * head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return key_moments(keys)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        logs = log_mass(query, summary, tokens).flatten(1, 2)
        # shares among complete pages only: anything after them is listed anyway
        logs.masked_fill_(~there[:, None], -torch.inf)
        return logs.softmax(-1).sum(1)


class QuestBounds:
    """Quest (3.2), for heads that share one page list: the highest bound of any head decides."""

    per_layer = True

    def numbers(self, head_dim: int) -> int:
        return 2 * head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return key_bounds(keys)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        return upper_bound(query, summary).amax((1, 2))


SELECTORS = {"attention-mass": AttentionMass, "quest": QuestBounds, "chess": KeyAffinity}


def make_selector(name: str, grids: float, chunks: float) -> LayerSelector | KeyAffinity:
    """Makes a selector by its name in `SELECTORS`; grids, chunks: the shares that CHESS keeps."""
    return KeyAffinity(grids, chunks) if name == "chess" else SELECTORS[name]()
