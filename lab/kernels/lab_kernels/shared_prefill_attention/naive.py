"""The specification of attention over shared and exclusive pages, in float64 on the CPU."""

import math

import torch

from reprise_kernels.sparse_prefill_attention.naive import attend_one


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
    recomputed elsewhere), and the own tokens at positions up to p; otherwise as in `naive_sparse_prefill_attention`.
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
