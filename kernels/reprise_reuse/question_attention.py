"""Questions' attention over contexts in an engine's pages (ProphetKV, stage I), read in place by kernels."""

from collections.abc import Sequence

import numpy as np
import torch

from reprise_reuse.device import copy_to, to_device


class QuestionAttention:
    """
    Attends, in one layer after the other, from each question to its whole context, and causally to itself.

    Runs `sparse_prefill_attention` and `question_scores` of reprise-kernels: neither rows nor weights are copied. What
    the layers share is made once, so that no layer waits for the device.
    """

    def __init__(self, counts: Sequence[int], places: Sequence[np.ndarray], scale: float, device: torch.device) -> None:
        """
        counts  tokens of each question
        places  where the rows of its context are in the pages, int32 each
        scale   of attention's logits
        """
        lengths = [len(one) for one in places]
        given = [np.repeat(lengths, counts), np.cumsum([0, *counts]), np.array(lengths)]
        sizes = np.cumsum([len(one) for one in given])[:-1].tolist()
        q_pos, cu_q, kv_len = to_device(np.concatenate(given).astype(np.int32), device).tensor_split(sizes)
        table = to_device(padded(places), device)
        self._context = {"q_pos": q_pos, "cu_q": cu_q, "slot_table": table, "kv_len": kv_len, "scale": scale}

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

        _, lse = sparse_prefill_attention(q, k=keys, v=values, own=_laid_out_alike(k, v), out=out, **self._context)
        question_scores(q, lse=lse, k=keys, out=scores, **self._context)


class SplitQuestionAttention:
    """
    The same for one question, whose context is read in parts at the same time (Flash-Decoding, Dao et al. 2023).

    A question has too few tokens to keep a GPU busy. All that it reads stays where it is, for a graph to replay.
    """

    PARTS = 8

    def __init__(self, size: int, longest: int, scale: float, device: torch.device) -> None:
        """
        size     tokens of a question, with its padding
        longest  rows of the longest context
        """
        zeros = lambda *shape: torch.zeros(*shape, dtype=torch.int32, device=device)  # noqa: E731
        parts, most = self.PARTS, -(-longest // self.PARTS)
        self.longest = longest = parts * most
        """`longest`, rounded up to whole parts"""
        self._table = zeros(1, longest)
        self._lengths = zeros(parts + 3)
        of_parts, cu_q, kv_len = self._lengths.split([parts, 2, 1])
        seen = torch.full((parts * size,), longest, dtype=torch.int32, device=device)
        ends = torch.arange(parts + 1, dtype=torch.int32, device=device) * size
        self._scores = {"q_pos": seen[:size], "cu_q": cu_q, "slot_table": self._table, "kv_len": kv_len, "scale": scale}
        self._parts = {
            "q_pos": seen, "cu_q": ends, "slot_table": zeros(parts, most), "kv_len": of_parts, "scale": scale,
        }  # fmt: skip
        self._own = {
            "q_pos": seen[:size], "cu_q": ends[:2], "slot_table": zeros(1, 1), "kv_len": zeros(1), "scale": scale,
        }  # fmt: skip

    def set(self, tokens: int, places: np.ndarray) -> None:
        """From now on, a question of so many tokens is asked about the rows at these places (int32 [m])."""
        part = -(-len(places) // self.PARTS)
        copy_to(self._table[0, : len(places)], places)
        self._parts["slot_table"][:, :part] = self._table[0, : self.PARTS * part].view(self.PARTS, part)
        of_parts = (len(places) - part * np.arange(self.PARTS)).clip(0, part)
        copy_to(self._lengths, np.concatenate((of_parts, [0, tokens, len(places)])).astype(np.int32))

    def attend(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor,
        scores: torch.Tensor, out: torch.Tensor,
    ) -> None:  # fmt: skip
        """Like `QuestionAttention.attend`; padding attends to the context and to what is before it."""
        from reprise_kernels.question_scores import question_scores
        from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

        every = torch.empty(self.PARTS + 1, *q.shape, dtype=q.dtype, device=q.device)
        repeated = q.expand(self.PARTS, *q.shape).reshape(-1, *q.shape[1:])
        _, lse = sparse_prefill_attention(
            repeated, k=keys, v=values, out=every[:-1].view(repeated.shape), **self._parts
        )  # fmt: skip
        own = _laid_out_alike(k, v)
        _, own_lse = sparse_prefill_attention(q, k=keys, v=values, own=own, out=every[-1], **self._own)
        lse = torch.cat((lse.view(self.PARTS, *own_lse.shape), own_lse[None]))
        total = lse.logsumexp(0)
        out.copy_((every * (lse - total).exp()[..., None]).sum(0))
        question_scores(q, lse=total, k=keys, out=scores, **self._scores)


def _laid_out_alike(k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (k, v) if k.stride() == v.stride() else (k.contiguous(), v.contiguous())


def padded(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Returns tables of different lengths as the rows of one; int32 [tables, longest]."""
    made = np.zeros((len(tables), max(map(len, tables))), np.int32)
    for row, table in zip(made, tables, strict=True):
        row[: len(table)] = table
    return made
