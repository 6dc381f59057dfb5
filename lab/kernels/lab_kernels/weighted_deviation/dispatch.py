"""weighted_deviation and kvshare_scores: check their arguments and launch the kernels."""

import torch

from lab_kernels.kv_deviation.dispatch import check_fresh, launch
from reprise_kernels.launch.checks import check_tensor
from reprise_kernels.question_scores import question_scores


def weighted_deviation(
    fresh_weights: torch.Tensor,
    stale_weights: torch.Tensor,
    fresh: torch.Tensor,
    cached: torch.Tensor,
    cu_tokens: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
) -> torch.Tensor:
    """Specified by `naive_weighted_deviation`, in float32 [B, Nmax]; `select_tokens` takes the result.

    With the question's attention before and after a full recomputation, this is ProphetKV's ideal, equation 5.
    """
    check_fresh([fresh], [cached], cu_tokens, kv_len)
    for name, weights in (("fresh_weights", fresh_weights), ("stale_weights", stale_weights)):
        check_tensor(name, weights, tuple(slot_table.shape), (torch.float32,), cached.device)
        if not weights.is_contiguous():
            raise ValueError(f"{name} has strides {weights.stride()}, it must be contiguous")
    return launch([fresh], [cached], cu_tokens, slot_table, kv_len, (fresh_weights, stale_weights))


def kvshare_scores(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    lse: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    fresh: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    scale: float | None = None,
) -> torch.Tensor:
    """KVShare's criterion, as specified by `naive_kvshare_scores`, in float32 [B, Nmax].

    `lse` is the rows' log-sum-exp over the keys they see, as returned by this layer's attention.
    """
    weights = question_scores(q, q_pos, cu_q, lse, k, slot_table, kv_len, scale=scale)
    return weighted_deviation(weights, weights, fresh, v, cu_q, slot_table, kv_len)
