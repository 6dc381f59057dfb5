"""CHESS: one page list for the whole model, by how similar a page's keys are to those of the recent window."""

import torch

PAGES_A_CHUNK = 4
CHUNKS_A_GRID = 4


class KeyAffinity:
    """CHESS, 3.1 and 3.2: a page is its mean key in all layers and heads; its score is the product with the anchor.

    In the paper the shares are thresholds. Here a page whose chunk or grid is dropped ranks after all others, so a
    request lists exactly as many pages as its budget says. The scores of equation 2's centroids are the means of their
    members' scores.
    """

    per_layer = False

    def numbers(self, head_dim: int) -> int:
        """How many numbers to keep per page, for each layer and KV head."""
        return head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """Returns mean keys [n, H, D] of pages with keys [n, page, H, D] (equation 1)."""
        return keys.float().mean(1)

    def scores(self, summary: torch.Tensor, full: torch.Tensor, recent: int) -> torch.Tensor:
        """Returns float32 [S, P] for vectors [L, S, H, C, P]; full int64 [S]: complete pages per request."""
        page = torch.arange(summary.shape[-1], device=summary.device)
        there = page < full[:, None]
        vectors = self._prepared(summary, there)
        window = (there & (page >= full[:, None] - recent)).float()
        # equation 3, without its constant factor
        anchor = torch.einsum("lshcp,sp->lshc", vectors, window)
        scores = torch.einsum("lshc,lshcp->sp", anchor, vectors)
        return coarse_to_fine(scores, there & (page < full[:, None] - recent))

    def _prepared(self, summary: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        return summary


class UnrotatedAffinity(KeyAffinity):
    """Like `KeyAffinity`, but on unrotated keys minus the request's mean, and by cosine."""

    def __init__(self, rotation: "torch.nn.Module | None" = None) -> None:
        """rotation: the model's `reprise_reuse.rotation.KeyRotation`."""
        self.rotation = rotation

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        count, page, heads, size = keys.shape
        at = (first[:, None] + torch.arange(page, device=keys.device)).flatten()
        turned = self.rotation.turn(keys.float().flatten(0, 1), self.rotation.tables(-at))
        return turned.view(count, page, heads, size).mean(1)

    def _prepared(self, summary: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        weight = there.float()
        mean = torch.einsum("lshcp,sp->lshc", summary, weight) / weight.sum(-1)[:, None, None]
        centred = (summary - mean[..., None]) * weight[:, None, None]
        return torch.nn.functional.normalize(centred, dim=3)


def coarse_to_fine(scores: torch.Tensor, candidate: torch.Tensor) -> torch.Tensor:
    """Returns scores [S, P] that rank pages of kept chunks first, then all others, each by page score.

    Algorithm 1 drops whole grids and chunks. With a page budget, the better half of the grids and the better half of
    their chunks compete first; other pages fill what is left of the budget.
    """
    live = torch.where(candidate, scores, torch.nan)
    chunks = _means(live, PAGES_A_CHUNK)
    grids = _means(chunks, CHUNKS_A_GRID)
    kept_grids = grids >= grids.nanmedian(-1, keepdim=True).values
    among = torch.where(kept_grids.repeat_interleave(CHUNKS_A_GRID, -1)[:, : chunks.shape[1]], chunks, torch.nan)
    kept_chunks = among >= among.nanmedian(-1, keepdim=True).values
    kept = kept_chunks.repeat_interleave(PAGES_A_CHUNK, -1)[:, : scores.shape[1]]
    span = scores.abs().amax(-1, keepdim=True) * 2 + 1
    return torch.where(kept, scores + span, scores)


def _means(values: torch.Tensor, size: int) -> torch.Tensor:
    """Means of every `size` neighbours of [S, n], ignoring NaN: [S, ceil(n / size)]."""
    padded = torch.nn.functional.pad(values, (0, -values.shape[-1] % size), value=torch.nan)
    return padded.unflatten(-1, (-1, size)).nanmean(-1)
