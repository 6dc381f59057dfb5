"""The specification of question_scores, in float64 on the CPU."""

import torch


def naive_question_scores(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    lse: torch.Tensor,
    k: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    weight: float = 1.0,
    scale: float | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Mean attention weight of the question on each position (ProphetKV, sections 4.2 and 4.3), [B, Nmax] float64.

    q       [Nq, Hq, D] the questions' queries; rows cu_q[b] to cu_q[b + 1] are request b's; q_pos [Nq]
    lse     [Nq, Hq] natural log-sum-exp of each row over all keys it sees, as returned by attention
    k       [pages, page_size, Hkv, D]; slot_table [B, Nmax]; kv_len [B], at most Nmax: the stale cache
    out     [B, Nmax] scores so far, to which these are added

        score[b, t] = out[b, t] + weight / (|Q_b| Hq) sum_{i, h} exp(scale q[i, h] . k[t, h // g] - lse[i, h])

    over request b's rows i with q_pos[i] >= t, for t below kv_len[b]; it stays out[b, t] above. Calls for each of L
    layers with weight 1 / L give equation 7.
    """
    flat = k.double().flatten(0, 1)
    group = q.shape[1] // k.shape[2]
    scores = torch.zeros(slot_table.shape, dtype=torch.float64) if out is None else out.double().clone()
    for b, length in enumerate(kv_len.tolist()):
        keys = flat[slot_table[b, :length].long()]
        keys = keys.repeat_interleave(group, 1)
        rows = range(int(cu_q[b]), int(cu_q[b + 1]))
        for i in rows:
            logits = torch.einsum("hd,nhd->hn", q[i].double(), keys) * (q.shape[2] ** -0.5 if scale is None else scale)
            attention = (logits - lse[i].double()[:, None]).exp()
            attention[:, int(q_pos[i]) + 1 :] = 0
            scores[b, :length] += attention.sum(0) * (weight / (len(rows) * q.shape[1]))
    return scores
