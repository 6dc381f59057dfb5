"""The released page selectors, and those that are only compared with them."""

import torch

from reprise_pages.affinity import KeyAffinity
from reprise_pages.mass import upper_bound
from reprise_pages.selectors import SELECTORS as RELEASED
from reprise_pages.selectors import AttentionMass, QuestBounds
from reprise_reuse.rotation import KeyRotation


class UnrotatedAffinity(KeyAffinity):
    """Like `KeyAffinity`, but on unrotated keys minus the request's mean, and by cosine."""

    def __init__(self, rotation: KeyRotation) -> None:
        """rotation: the model's."""
        super().__init__()
        self.rotation = rotation

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        count, page, heads, size = keys.shape
        at = (first[:, None] + torch.arange(page, device=keys.device)).flatten()
        turned = self.rotation.turn(keys.float().flatten(0, 1), self.rotation.tables(-at))
        return turned.view(count, page, heads, size).mean(1)

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        weight = (torch.arange(summary.shape[-1], device=summary.device) < full[:, None]).float()
        mean = torch.einsum("lshcp,sp->lshc", summary, weight) / weight.sum(-1)[:, None, None]
        centred = (summary - mean[..., None]) * weight[:, None, None]
        return super().scores(torch.nn.functional.normalize(centred, dim=3), full, recent)


class MassAndBounds:
    """The sum of two shares: of the attention a page will get by its mean and variance, and by Quest's bounds."""

    per_layer = True

    def __init__(self) -> None:
        self._mass, self._bounds = AttentionMass(), QuestBounds()

    def numbers(self, head_dim: int) -> int:
        return self._mass.numbers(head_dim) + self._bounds.numbers(head_dim)

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return torch.cat((self._mass.summarise(keys, first), self._bounds.summarise(keys, first)), -1)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        of_mass, of_bounds = summary.chunk(2, 2)
        highest = upper_bound(query, of_bounds).flatten(1, 2).masked_fill(~there[:, None], -torch.inf)
        return self._mass.scores(query, of_mass, there, tokens) + highest.softmax(-1).sum(1)


class RecentPages:
    """A window of the last pages, like StreamingLLM's: the baseline for all other selectors."""

    per_layer = False

    def numbers(self, head_dim: int) -> int:
        return 0

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        return keys.new_empty((len(keys), keys.shape[2], 0), dtype=torch.float32)

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        return torch.arange(summary.shape[-1], dtype=torch.float32, device=summary.device).expand(len(full), -1)


class RandomPages(RecentPages):
    """Pages at random, the same ones for the same number of pages: the lower bound."""

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        page = torch.arange(summary.shape[-1], device=summary.device)
        # a hash of (page, pages): stateless, and independent of the rest of the batch
        mixed = (page + 1) * 2654435761 % 4294967296 ^ (full[:, None] * 40503)
        return (mixed * 2246822519 % 4294967296).float()


SELECTORS = {
    **RELEASED, "mass and bounds": MassAndBounds, "chess-unrotated": UnrotatedAffinity, "recent": RecentPages,
    "random": RandomPages,
}  # fmt: skip
