"""The specification of select_tokens, on the CPU."""

import math

import torch


def naive_select_tokens(
    scores: torch.Tensor, lengths: torch.Tensor, ratio: float, capacity: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The positions of the top `ratio` of each request's scores: int32 [B, capacity], and how many, int32 [B].

    scores [B, Nmax]; lengths [B]: only the first lengths[b] scores count, or all if that exceeds Nmax

    Takes ceil(ratio * n - 1e-6) of n scores (1e-6 for the rounding of the product), at most `capacity`, by default
    Nmax. Ties go to the lower position; NaN comes last. Positions ascend and are padded with -1.
    """
    capacity = scores.shape[1] if capacity is None else capacity
    positions = torch.full((len(scores), capacity), -1, dtype=torch.int32)
    counts = torch.zeros(len(scores), dtype=torch.int32)
    for b, length in enumerate(lengths.clamp(0, scores.shape[1]).tolist()):
        wanted = min(max(math.ceil(ratio * length - 1e-6), 0), length, capacity)
        keys = [(math.isnan(score), -score if score == score else 0.0, i) for i, score in _numbered(scores[b, :length])]
        chosen = sorted(position for _, _, position in sorted(keys)[:wanted])
        positions[b, :wanted] = torch.tensor(chosen, dtype=torch.int32)
        counts[b] = wanted
    return positions, counts


def _numbered(scores: torch.Tensor) -> list[tuple[int, float]]:
    return list(enumerate(scores.tolist()))
