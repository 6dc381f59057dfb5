"""The specification of sparse_decode_attention, in float64 on the CPU."""

import torch

from reprise_kernels.sparse_prefill_attention.naive import attend_one


def naive_sparse_decode_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    kv_len: torch.Tensor,
    slot_table: torch.Tensor | None = None,
    page_table: torch.Tensor | None = None,
    page_list: torch.Tensor | None = None,
    page_count: torch.Tensor | None = None,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of each request's newest token; out [B, Hq, D] and natural log-sum-exp [B, Hq], float64.

    q           [B, Hq, D]; k, v [pages, page_size, Hkv, D]; slot s is k[s // page_size, s % page_size]
    kv_len      [B] how many tokens a request has, the newest included; at most the number of places in its table
    slot_table  [B, Nmax] the slot of each position; or page_table [B, Pmax] the page from position j * page_size on
    page_list   [B, L] which of a request's pages (0: its first) to read; only the first page_count[b] entries count,
                and negative ones are ignored. Without it all pages are read.

    With J the positions below kv_len[b] in a listed page, each page counted as often as it is listed:

        s_j = scale * q[b, h] . k[slot(j), h // g]
        out[b, h] = sum_J softmax(s)_j v[slot(j), h // g]
        lse[b, h] = log sum_J exp s_j

    A request without keys gives 0 and -inf.
    """
    page_size = k.shape[1]
    flat_k, flat_v = k.double().flatten(0, 1), v.double().flatten(0, 1)
    out, lse = torch.zeros(q.shape, dtype=torch.float64), torch.empty(q.shape[:2], dtype=torch.float64)
    places = page_table.shape[1] * page_size if slot_table is None else slot_table.shape[1]
    for b, length in enumerate(kv_len.clamp(max=places).tolist()):
        positions = torch.arange(length)
        if page_list is not None:
            pages = [page for page in page_list[b, : int(page_count[b])].tolist() if page >= 0]
            listed = [torch.arange(page * page_size, min((page + 1) * page_size, length)) for page in pages]
            positions = torch.cat([torch.empty(0, dtype=torch.long), *listed])
        if slot_table is not None:
            slots = slot_table[b].long()[positions]
        else:
            slots = page_table[b].long()[positions // page_size] * page_size + positions % page_size
        out[b], lse[b] = attend_one(q[b].double(), flat_k[slots], flat_v[slots], scale)
    return out, lse
