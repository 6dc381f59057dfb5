"""The ways to choose pages, each under its name: what is kept of a page, and how its pages are scored."""

from typing import Protocol

import torch

from reprise_pages.affinity import KeyAffinity, UnrotatedAffinity
from reprise_pages.mass import key_bounds, key_moments, log_mass, upper_bound


class LayerSelector(Protocol):
    """Chooses in each layer of a decode step, from that layer's queries."""

    per_layer: bool

    def numbers(self, head_dim: int) -> int:
        """C: how many numbers are kept of a page, for each layer and KV head."""

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """
        These numbers [n, H, C] of pages whose keys are [n, page, H, D]; first int64 [n]: position of a page's first.
        """

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        """What each page is worth: float32 [S, P], finite.

        query    float32 [S, H, G, D], scaled as attention scales it, G queries for each KV head
        summary  float32 [S, H, C, P]; there bool [S, P] which pages are complete; tokens in a page
        """


class AttentionMass:
    """The share of the attention that a page will get, summed over heads: ours (`log_mass`)."""

    per_layer = True

    def numbers(self, head_dim: int) -> int:
        return 2 * head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return key_moments(keys)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        logs = log_mass(query, summary, tokens).flatten(1, 2)
        # shares of complete pages only: what lies behind them is listed anyway
        logs.masked_fill_(~there[:, None], -torch.inf)
        return logs.softmax(-1).sum(1)


class QuestBounds:
    """Quest (3.2) where heads share a list of pages: the highest bound of any head decides."""

    per_layer = True

    def numbers(self, head_dim: int) -> int:
        return 2 * head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return key_bounds(keys)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        return upper_bound(query, summary).amax((1, 2))


class RecentPages:
    """A window of the last pages, as StreamingLLM keeps it: what every other choice is to beat."""

    per_layer = False

    def numbers(self, head_dim: int) -> int:
        return 0

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return keys.new_empty((len(keys), keys.shape[2], 0), dtype=torch.float32)

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        return torch.arange(summary.shape[-1], dtype=torch.float32, device=summary.device).expand(len(full), -1)


class RandomPages(RecentPages):
    """Any pages, the same ones for the same number of pages: the floor."""

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        page = torch.arange(summary.shape[-1], device=summary.device)
        # a hash of (page, pages): no state, and the same in a batch as alone
        mixed = (page + 1) * 2654435761 % 4294967296 ^ (full[:, None] * 40503)
        return (mixed * 2246822519 % 4294967296).float()


SELECTORS = {
    "attention-mass": AttentionMass,
    "quest": QuestBounds,
    "chess": KeyAffinity,
    "chess-unrotated": UnrotatedAffinity,
    "recent": RecentPages,
    "random": RandomPages,
}
