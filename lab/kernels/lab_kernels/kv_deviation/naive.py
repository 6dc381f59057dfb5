"""The specification of kv_deviation, in float64 on the CPU."""

import torch


def naive_kv_deviation(
    fresh: list[torch.Tensor],
    cached: list[torch.Tensor],
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    """Squared distance of each token's cached keys or values from fresh ones, float64 [B, Nmax].

    fresh       per kind [T, Hkv, D]: request b's tokens are rows cu_tokens[b] to cu_tokens[b + 1], from position 0;
                an empty list stands for zeros
    cached      the same kinds [pages, page_size, Hkv, D]; slot_table [B, Nmax]; kv_len [B], at most Nmax

        score[b, t] = sum over the kinds and h, d of (fresh[cu_tokens[b] + t, h, d] - cached[slot_table[b, t], h, d])^2

    for t below kv_len[b] and, if there are fresh ones, below cu_tokens[b + 1] - cu_tokens[b]; elsewhere 0.
    """
    scores = torch.zeros(slot_table.shape, dtype=torch.float64)
    for b, length in enumerate(kv_len.clamp(max=slot_table.shape[1]).tolist()):
        start, end = int(cu_tokens[b]), int(cu_tokens[b + 1])
        n = min(length, end - start) if fresh else length
        for kind, cache in enumerate(cached):
            stale = cache.double().flatten(0, 1)[slot_table[b, :n].long()]
            new = fresh[kind][start : start + n].double() if fresh else torch.zeros_like(stale)
            scores[b, :n] += (new - stale).square().sum((1, 2))
    return scores
