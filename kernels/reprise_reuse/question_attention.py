"""A question's attention over a context in an engine's pages (ProphetKV, stage I), read in place by kernels."""

import torch


def attend_in_pages(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor,
    scale: float, scores: torch.Tensor,
) -> torch.Tensor:  # fmt: skip
    """Returns the output [n, query heads, size] of a question that sees the whole context, and itself causally.

    q             [n, query heads, size]: the question's queries; k, v [n, heads, size]: its own keys and values
    keys, values  [1, rows, heads, size]: the engine's pages; slots: int32 [m], the context's rows in them
    scale         of attention's logits
    scores        float32 [m]: each context token's weights, summed over queries and heads, are added here

    Runs `sparse_prefill_attention` and `question_scores` of reprise-kernels: neither rows nor weights are copied.
    """
    from reprise_kernels.question_scores import question_scores
    from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

    count, length = len(q), len(slots)
    where = {
        "q_pos": torch.full((count,), length, dtype=torch.int32, device=q.device),
        "cu_q": torch.tensor((0, count), dtype=torch.int32, device=q.device),
        "slot_table": slots[None],
        "kv_len": torch.tensor((length,), dtype=torch.int32, device=q.device),
    }
    context, context_lse = sparse_prefill_attention(q, k=keys, v=values, scale=scale, **where)
    own, own_lse = _attend_causally(q, k, v, scale)
    lse = torch.logaddexp(context_lse, own_lse)
    question_scores(q, lse=lse, k=keys, weight=count * q.shape[1], scale=scale, out=scores[None], **where)
    shares = [(part - lse).exp()[..., None] for part in (context_lse, own_lse)]
    return (context.float() * shares[0] + own * shares[1]).to(q.dtype)


def _attend_causally(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns output [n, query heads, size] and log-sum-exp [n, query heads] of causal attention, float32."""
    count, heads = len(q), k.shape[1]
    grouped = (q.float() * scale).view(count, heads, -1, q.shape[2])
    logits = torch.einsum("ihgd,jhd->ihgj", grouped, k.float())
    logits.masked_fill_(~torch.ones(count, count, dtype=torch.bool, device=q.device).tril()[:, None, None], -torch.inf)
    output = torch.einsum("ihgj,jhd->ihgd", logits.softmax(-1), v.float())
    return output.flatten(1, 2), logits.logsumexp(-1).flatten(1)
