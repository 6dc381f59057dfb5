"""The scores; each is float32 [B, N], as `select_tokens` takes it, and stays on its device."""

import torch

from reprise_kernels.checks import check_index, check_tensor


def chunk_head(chunk_starts: torch.Tensor, width: int) -> torch.Tensor:
    """EPIC's choice: the nearer a token is to its chunk's first, the higher its score, which is minus the distance.

    chunk_starts  int32 [B, C], ascending, each row padded with `width` or more; positions before the first start have
                  the lowest score, since they belong to no chunk
    """
    check_index("chunk_starts", chunk_starts, (None, None), chunk_starts.device)
    requests, chunks = chunk_starts.shape
    positions = torch.arange(width, dtype=torch.int32, device=chunk_starts.device).expand(requests, width).contiguous()
    if chunks == 0:
        return torch.full((requests, width), -torch.inf, device=chunk_starts.device)
    chunk = torch.searchsorted(chunk_starts, positions, right=True) - 1
    start = chunk_starts.gather(1, chunk.clamp(min=0))
    return torch.where(chunk >= 0, (start - positions).float(), -torch.inf)


def attention_change(fresh: torch.Tensor, stale: torch.Tensor) -> torch.Tensor:
    """By how much full recomputation changes the question's attention, |ΔΦ| of ProphetKV's equation 6.

    Known only after the recomputation that a choice is to avoid: an upper reference, not a method.
    """
    check_tensor("fresh", fresh, (None, None), (torch.float32,))
    check_tensor("stale", stale, fresh.shape, (torch.float32,), fresh.device)
    return (fresh - stale).abs()


def random_scores(requests: int, width: int, seed: int, device: torch.device | str = "cpu") -> torch.Tensor:
    """Scores without meaning, the same for the same seed on every device: what any method must beat."""
    return torch.rand(requests, width, generator=torch.Generator().manual_seed(seed)).to(device)
