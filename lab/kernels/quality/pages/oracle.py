"""The true attention mass of each page, which no selector can know without reading all keys."""

import torch


class TrueMass:
    """Keeps the keys themselves, so it reads as much as attention does; for measurements only."""

    per_layer = True

    def numbers(self, head_dim: int) -> int:
        """For pages of 32 tokens."""
        return 32 * head_dim

    def summarise(self, keys: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """Returns all keys [n, H, page * D] of pages [n, page, H, D]."""
        return keys.float().movedim(2, 1).flatten(2)

    def scores(self, query: torch.Tensor, summary: torch.Tensor, there: torch.Tensor, tokens: int) -> torch.Tensor:
        """Returns the share of attention that each page gets, summed over heads: float32 [S, P]."""
        keys = summary.unflatten(2, (tokens, -1))
        logs = torch.einsum("shgd,shtdp->shgtp", query, keys).logsumexp(3).flatten(1, 2)
        return logs.masked_fill(~there[:, None], -torch.inf).softmax(-1).sum(1)
