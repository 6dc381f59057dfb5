"""A question's attention over a context in an engine's pages (ProphetKV, stage I), read in place by kernels."""

import torch


class QuestionAttention:
    """
    Attends, in one layer after the other, from a question to the whole context, and causally to itself.

    Runs `sparse_prefill_attention` and `question_scores` of reprise-kernels: neither rows nor weights are copied. What
    the layers share is made once, so that no layer waits for the device.
    """

    def __init__(self, count: int, slots: torch.Tensor, scale: float) -> None:
        """
        count  the question's tokens
        slots  int32 [m]: the context's rows in the pages
        scale  of attention's logits
        """
        device, length = slots.device, len(slots)
        at, every = torch.arange(count, dtype=torch.int32, device=device), torch.tensor([0, count, length]).int()
        every = every.to(device)
        self._scale = scale
        self._context = {
            "q_pos": torch.full_like(at, length), "cu_q": every[:2], "slot_table": slots[None], "kv_len": every[2:],
        }  # fmt: skip
        self._own = {"q_pos": at, "cu_q": every[:2], "slot_table": at[None], "kv_len": every[1:2]}

    def attend(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor,
        scores: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        """Returns the output [n, query heads, size] in one layer.

        q             [n, query heads, size]: the question's queries; k, v [n, heads, size]: its own keys and values
        keys, values  [1, rows, heads, size]: the engine's pages
        scores        float32 [m]: each context token's weights, summed over queries and heads, are added here
        """
        from reprise_kernels.question_scores import question_scores
        from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

        context, context_lse = sparse_prefill_attention(q, k=keys, v=values, scale=self._scale, **self._context)
        own, own_lse = sparse_prefill_attention(
            q, k=k.contiguous()[None], v=v.contiguous()[None], scale=self._scale, **self._own
        )
        lse = torch.logaddexp(context_lse, own_lse)
        weight = q.shape[0] * q.shape[1]
        question_scores(q, lse=lse, k=keys, weight=weight, scale=self._scale, out=scores[None], **self._context)
        share = torch.sigmoid(own_lse - context_lse)[..., None]
        return context.float().lerp(own.float(), share).to(q.dtype)
