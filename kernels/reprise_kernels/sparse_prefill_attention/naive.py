"""The specifications of sparse prefill attention, in float64 on the CPU, one per cache layout."""

import math

import torch


def naive_sparse_prefill_attention(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    scale: float | None = None,
    own: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention by true position over the slot table; out [Nq, Hq, D] and natural log-sum-exp [Nq, Hq], float64.

    q           [Nq, Hq, D] the queries of all requests; rows cu_q[b] to cu_q[b + 1] are request b's
    q_pos       [Nq] each query's true position in its request ("Q index"); cu_q [B + 1]
    k, v        [pages, page_size, Hkv, D]; slot s is k[s // page_size, s % page_size]
    slot_table  [B, Nmax] the slot of request b's token at position j: in a shared chunk, or in a page of its own
    kv_len      [B] how many positions a request has, at most Nmax
    own         keys and values [Nq, Hkv, D] of the queries: behind those of the cache, a query also sees those of its
                request's queries up to its own

    With g = Hq / Hkv query heads per key head, for row i of request b, and j over 0 .. min(q_pos[i], kv_len[b] - 1):

        s_j = scale * q[i, h] . k[slot_table[b, j], h // g]
        lse[i, h] = log sum_j exp s_j,   out[i, h] = sum_j exp(s_j - lse[i, h]) v[slot_table[b, j], h // g]

    A row without keys, or after the last request, gives 0 and -inf.
    """
    flat_k, flat_v = k.double().flatten(0, 1), v.double().flatten(0, 1)
    out, lse = torch.zeros(q.shape, dtype=torch.float64), torch.full(q.shape[:2], -math.inf, dtype=torch.float64)
    for b in range(len(kv_len)):
        slots = slot_table[b, : int(kv_len[b])].long()
        keys, values = flat_k[slots], flat_v[slots]
        for i in range(int(cu_q[b]), int(cu_q[b + 1])):
            seen = min(int(q_pos[i]) + 1, len(slots))
            seen_keys, seen_values = keys[:seen], values[:seen]
            if own is not None:
                behind = slice(int(cu_q[b]), i + 1)
                seen_keys = torch.cat((seen_keys, own[0][behind].double()))
                seen_values = torch.cat((seen_values, own[1][behind].double()))
            out[i], lse[i] = attend_one(q[i].double(), seen_keys, seen_values, scale)
    return out, lse


def attend_one(
    q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one query [Hq, D] over keys and values [n, Hkv, D], all float64: out [Hq, D] and lse [Hq]."""
    if len(keys) == 0:
        return torch.zeros_like(q), torch.full(q.shape[:1], -math.inf, dtype=q.dtype)
    group = q.shape[0] // keys.shape[1]
    keys, values = keys.repeat_interleave(group, 1), values.repeat_interleave(group, 1)
    scores = torch.einsum("hd,nhd->hn", q, keys) * (q.shape[1] ** -0.5 if scale is None else scale)
    return torch.einsum("hn,nhd->hd", scores.softmax(1), values), scores.logsumexp(1)
