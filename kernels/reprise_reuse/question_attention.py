"""Questions' attention over contexts in an engine's pages (ProphetKV, stage I), read in place by kernels."""

from collections.abc import Sequence

import numpy as np
import torch

from reprise_reuse.to_device import to_device


class QuestionAttention:
    """
    Attends, in one layer after the other, from each question to its whole context, and causally to itself.

    Runs `sparse_prefill_attention` and `question_scores` of reprise-kernels: neither rows nor weights are copied. What
    the layers share is made once, so that no layer waits for the device.
    """

    def __init__(self, counts: Sequence[int], places: Sequence[np.ndarray], scale: float, device: torch.device) -> None:
        """
        counts  each question's tokens
        places  int32 [m] each: its context's rows in the pages
        scale   of attention's logits
        """
        lengths = [len(one) for one in places]
        given = [np.repeat(lengths, counts), np.cumsum([0, *counts]), np.array(lengths)]
        sizes = np.cumsum([len(one) for one in given])[:-1].tolist()
        q_pos, cu_q, kv_len = to_device(np.concatenate(given).astype(np.int32), device).tensor_split(sizes)
        self._context = {
            "q_pos": q_pos, "cu_q": cu_q, "slot_table": to_device(padded(places), device), "kv_len": kv_len,
            "scale": scale,
        }  # fmt: skip

    def attend(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor,
        scores: torch.Tensor, out: torch.Tensor,
    ) -> None:  # fmt: skip
        """Writes the output of one layer.

        q, out        [n, query heads, size]: the questions' queries; k, v [n, heads, size]: their own keys and values
        keys, values  [1, rows, heads, size]: the engine's pages
        scores        float32 [questions, m]: each context token's mean weight over its question's queries and heads is
                      added here
        """
        from reprise_kernels.question_scores import question_scores
        from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

        own = (k, v) if k.stride() == v.stride() else (k.contiguous(), v.contiguous())
        _, lse = sparse_prefill_attention(q, k=keys, v=values, own=own, out=out, **self._context)
        question_scores(q, lse=lse, k=keys, out=scores, **self._context)


def padded(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Returns tables of different lengths as the rows of one; int32 [tables, longest]."""
    made = np.zeros((len(tables), max(map(len, tables))), np.int32)
    for row, table in zip(made, tables, strict=True):
        row[: len(table)] = table
    return made
