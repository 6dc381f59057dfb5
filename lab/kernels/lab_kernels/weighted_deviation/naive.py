"""The specifications of weighted_deviation and kvshare_scores, in float64 on the CPU."""

import torch


def naive_weighted_deviation(
    fresh_weights: torch.Tensor,
    stale_weights: torch.Tensor,
    fresh: torch.Tensor,
    cached: torch.Tensor,
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    """Squared distance of each token's weighted cached values from its weighted fresh ones, float64 [B, Nmax].

    fresh_weights, stale_weights    [B, Nmax]
    fresh                           [T, Hkv, D]: request b's tokens are rows cu_tokens[b] to cu_tokens[b + 1], from 0 on
    cached                          [pages, page_size, Hkv, D]; slot_table [B, Nmax]; kv_len [B], at most Nmax

        score[b, t] = sum over h, d of
            (fresh_weights[b, t] fresh[cu_tokens[b] + t, h, d] - stale_weights[b, t] cached[slot_table[b, t], h, d])^2

    for t below kv_len[b] and cu_tokens[b + 1] - cu_tokens[b]; elsewhere 0.
    """
    scores = torch.zeros(slot_table.shape, dtype=torch.float64)
    for b, length in enumerate(kv_len.clamp(max=slot_table.shape[1]).tolist()):
        start, end = int(cu_tokens[b]), int(cu_tokens[b + 1])
        n = min(length, end - start)
        stale = cached.double().flatten(0, 1)[slot_table[b, :n].long()] * stale_weights[b, :n, None, None].double()
        new = fresh[start : start + n].double() * fresh_weights[b, :n, None, None].double()
        scores[b, :n] = (new - stale).square().sum((1, 2))
    return scores


def naive_kvshare_scores(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    fresh: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """The squared deviation of each token's values times the attention of all tokens to it, float64 [B, Nmax].

    q [T, Hq, D] the queries of all tokens of a layer, q_pos [T] their positions, k the keys they attend to; the rest as
    in `naive_weighted_deviation`. With P[i, h, t] the softmax of row i's scores over the t up to q_pos[i],

        score[b, t] = (1 / (|T_b| Hq) sum_{i, h} P[i, h, t])^2  sum_{h, d} (fresh[t, h, d] - v[t, h, d])^2
    """
    group = q.shape[1] // k.shape[2]
    weights = torch.zeros(slot_table.shape, dtype=torch.float64)
    for b, length in enumerate(kv_len.tolist()):
        keys = k.double().flatten(0, 1)[slot_table[b, :length].long()].repeat_interleave(group, 1)
        rows = range(int(cu_q[b]), int(cu_q[b + 1]))
        for i in rows:
            seen = min(int(q_pos[i]) + 1, length)
            logits = torch.einsum("hd,nhd->hn", q[i].double(), keys[:seen])
            attention = (logits * (q.shape[2] ** -0.5 if scale is None else scale)).softmax(1)
            weights[b, :seen] += attention.sum(0) / (len(rows) * q.shape[1])
    return naive_weighted_deviation(weights, weights, fresh, v, cu_q, slot_table, kv_len)
