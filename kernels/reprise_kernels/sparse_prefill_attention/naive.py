"""The specifications of sparse prefill attention, in float64 on the CPU, one per cache layout."""

import math

import torch

from reprise_kernels.rope_shift.naive import naive_rope_shift
from reprise_kernels.rotary.key_turns import KeyTurns


def naive_sparse_prefill_attention(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    scale: float | None = None,
    turns: KeyTurns | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention by true position over the slot table; out [Nq, Hq, D] and natural log-sum-exp [Nq, Hq], float64.

    q           [Nq, Hq, D] the queries of all requests; rows cu_q[b] to cu_q[b + 1] are request b's
    q_pos       [Nq] each query's true position in its request ("Q index"); cu_q [B + 1]
    k, v        [pages, page_size, Hkv, D]; slot s is k[s // page_size, s % page_size]
    slot_table  [B, Nmax] the slot of request b's token at position j: in a shared chunk, or in a page of its own
    kv_len      [B] how many positions a request has, at most Nmax

    With g = Hq / Hkv query heads per key head, for row i of request b, and j over 0 .. min(q_pos[i], kv_len[b] - 1):

        s_j = scale * q[i, h] . k[slot_table[b, j], h // g]
        lse[i, h] = log sum_j exp s_j,   out[i, h] = sum_j exp(s_j - lse[i, h]) v[slot_table[b, j], h // g]

    A row without keys, or after the last request, gives 0 and -inf. With `turns`, k is first turned by its tile's
    distance (see KeyTurns).
    """
    flat_k, flat_v = k.double().flatten(0, 1), v.double().flatten(0, 1)
    out, lse = torch.zeros(q.shape, dtype=torch.float64), torch.full(q.shape[:2], -math.inf, dtype=torch.float64)
    for b in range(len(kv_len)):
        slots = slot_table[b, : int(kv_len[b])].long()
        keys, values = flat_k[slots], flat_v[slots]
        if turns is not None:
            keys = turned_keys(keys, turns, b)
        for i in range(int(cu_q[b]), int(cu_q[b + 1])):
            seen = min(int(q_pos[i]) + 1, len(slots))
            out[i], lse[i] = attend_one(q[i].double(), keys[:seen], values[:seen], scale)
    return out, lse


def naive_shared_prefill_attention(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    shared_table: torch.Tensor,
    shared_len: torch.Tensor,
    own_table: torch.Tensor,
    own_pos: torch.Tensor,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """FusionRAG's layout (section 4.3): shared pages that are never written, and exclusive pages for each request.

    shared_table  [B, P] the page from position p * page_size on; negative: none
    shared_len    [B] positions in shared pages, at most P * page_size
    own_table     [B, X] the request's exclusive pages; own_pos [B, X * page_size] the true position of the token in
                  each of their places, negative if there is none

    A query at position p sees the shared tokens at positions up to p that are not in own_pos (those in it are stale:
    recomputed elsewhere), and the own tokens at positions up to p; otherwise as above.
    """
    page_size = k.shape[1]
    flat_k, flat_v = k.double().flatten(0, 1), v.double().flatten(0, 1)
    out, lse = torch.zeros(q.shape, dtype=torch.float64), torch.full(q.shape[:2], -math.inf, dtype=torch.float64)
    for b in range(len(shared_len)):
        own = {int(p): j for j, p in enumerate(own_pos[b]) if p >= 0}
        places = {
            p: int(shared_table[b, p // page_size]) * page_size + p % page_size
            for p in range(min(int(shared_len[b]), shared_table.shape[1] * page_size))
            if p not in own and shared_table[b, p // page_size] >= 0
        }
        places |= {p: int(own_table[b, j // page_size]) * page_size + j % page_size for p, j in own.items()}
        for i in range(int(cu_q[b]), int(cu_q[b + 1])):
            slots = torch.tensor([slot for p, slot in places.items() if p <= q_pos[i]], dtype=torch.long)
            out[i], lse[i] = attend_one(q[i].double(), flat_k[slots], flat_v[slots], scale)
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


def turned_keys(keys: torch.Tensor, turns: KeyTurns, b: int) -> torch.Tensor:
    """The keys of request b, [n, Hkv, D], each turned by the distance of its tile."""
    position = torch.arange(len(keys))
    moves = turns.of_tile[b].cpu()[position // turns.tile]
    cache = keys[None]
    return naive_rope_shift(cache, position, moves, turns.distances.cpu(), turns.rotary, cache, position)[0]
