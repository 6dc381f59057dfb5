"""CHESS: one page list for the whole model, by how similar a page's keys are to those of the recent window."""

import torch

PAGES_A_CHUNK = 4
CHUNKS_A_GRID = 4


class KeyAffinity:
    """CHESS, 3.1 and 3.2: a page is its mean key in all layers and heads; its score is the product with the anchor.

    Algorithm 1 with the shares taken among what is active, as Table 1's budgets need it: of `grids` (rho_g) the best,
    of their chunks the best share `chunks` (rho_c). The share of their pages (rho_p) follows from a request's ratio,
    which is the product of all three. A page whose chunk or grid is dropped ranks after all others, so a request lists
    exactly as many pages as its ratio says. Scores of equation 2's centroids are the means of their members' scores.
    """

    per_layer = False

    def __init__(self, grids: float = 0.5, chunks: float = 0.5) -> None:
        self.grids = grids
        self.chunks = chunks

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
        window = (there & (page >= full[:, None] - recent)).float()
        # equation 3, without its constant factor
        anchor = torch.einsum("lshcp,sp->lshc", summary, window)
        scores = torch.einsum("lshc,lshcp->sp", anchor, summary)
        return coarse_to_fine(scores, there & (page < full[:, None] - recent), self.grids, self.chunks)


def coarse_to_fine(
    scores: torch.Tensor, candidate: torch.Tensor, grids_kept: float = 0.5, chunks_kept: float = 0.5
) -> torch.Tensor:
    """Returns scores [S, P] that rank pages of kept chunks first, then all others, each by page score.

    Of the grids the best share `grids_kept` is kept, of their chunks the best `chunks_kept` (CHESS, Algorithm 1), both
    rounded up.
    """
    live = torch.where(candidate, scores, torch.nan)
    chunks = _means(live, PAGES_A_CHUNK)
    kept_grids = _best(_means(chunks, CHUNKS_A_GRID), grids_kept)
    active = torch.where(kept_grids.repeat_interleave(CHUNKS_A_GRID, -1)[:, : chunks.shape[1]], chunks, torch.nan)
    kept = _best(active, chunks_kept).repeat_interleave(PAGES_A_CHUNK, -1)[:, : scores.shape[1]]
    span = scores.abs().amax(-1, keepdim=True) * 2 + 1
    return torch.where(kept, scores + span, scores)


def _best(values: torch.Tensor, share: float) -> torch.Tensor:
    """Marks the highest `share` of each row's values that are not NaN, rounded up: bool [S, n]."""
    there = ~values.isnan()
    best_first = values.masked_fill(~there, -torch.inf).argsort(dim=-1, descending=True, stable=True)
    rank = best_first.argsort(dim=-1)
    # 0.15 * 100 is a little more than 15 in floating point, and would be rounded up to 16
    return there & (rank < (there.sum(-1, keepdim=True).double() * share - 1e-9).ceil())


def _means(values: torch.Tensor, size: int) -> torch.Tensor:
    """Means of every `size` neighbours of [S, n], ignoring NaN: [S, ceil(n / size)]."""
    padded = torch.nn.functional.pad(values, (0, -values.shape[-1] % size), value=torch.nan)
    return padded.unflatten(-1, (-1, size)).nanmean(-1)
