"""Scores, each float32 [B, N] as `select_tokens` takes them, computed on the inputs' device."""

import torch

from reprise_kernels.launch.checks import check_index, check_tensor


def chunk_head(chunk_starts: torch.Tensor, width: int) -> torch.Tensor:
    """EPIC's choice: the score is minus the distance from the first token of the chunk, so first tokens score highest.

    chunk_starts  int32 [B, C], ascending, each row padded with `width` or more; positions before the first start belong
                  to no chunk and get the lowest score
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
    """How much full recomputation changes the question's attention: |ΔΦ| in ProphetKV's equation 6.

    Needs the very recomputation that a choice should avoid: an upper reference, not a method.
    """
    check_tensor("fresh", fresh, (None, None), (torch.float32,))
    check_tensor("stale", stale, fresh.shape, (torch.float32,), fresh.device)
    return (fresh - stale).abs()


def random_scores(requests: int, width: int, seed: int, device: torch.device | str = "cpu") -> torch.Tensor:
    """Random scores, the same on every device for the same seed: the baseline for any method."""
    return torch.rand(requests, width, generator=torch.Generator().manual_seed(seed)).to(device)
