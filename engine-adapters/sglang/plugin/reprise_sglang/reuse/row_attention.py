"""The attention of some rows of a request to what is before them, in torch."""

from typing import Any

import torch

_TILE = 64
"""rows whose attention is computed together: they read the keys before the last of them"""

EXTENDED = "sglang.srt.layers.attention.torch_native_backend.TorchNativeAttnBackend._run_sdpa_forward_extend"


def attend_rows(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor,
    scale: float, out: torch.Tensor,
) -> None:  # fmt: skip
    """Writes the output of rows, each of which attends to itself and to all before it.

    queries, out  [n, query heads, size]
    keys, values  [slots, heads, size]: of the whole pool
    slots         int64 [m]: of the request
    rows          int64 [n], ascending: positions in the request
    """
    # read once for all tiles: reading them is a third of the work
    seen = torch.arange(int(rows[-1]) + 1, device=rows.device)
    own_keys, own_values = (cache[slots[: len(seen)]].transpose(0, 1)[None] for cache in (keys, values))
    for begin in range(0, len(rows), _TILE):
        at = rows[begin : begin + _TILE]
        end = int(at[-1]) + 1
        of_tile = torch.nn.functional.scaled_dot_product_attention(
            queries[begin : begin + _TILE].transpose(0, 1)[None], own_keys[:, :, :end], own_values[:, :, :end],
            attn_mask=seen[:end] <= at[:, None], scale=scale, enable_gqa=True,
        )  # fmt: skip
        out[begin : begin + _TILE] = of_tile[0].transpose(0, 1)


def extend_new_rows(
    original: Any, backend: Any, query: torch.Tensor, output: torch.Tensor, k_cache: torch.Tensor,
    v_cache: torch.Tensor, req_to_token: torch.Tensor, req_pool_indices: torch.Tensor, seq_lens: torch.Tensor,
    extend_prefix_lens: torch.Tensor, extend_seq_lens: torch.Tensor, encoder_lens: Any = None, scaling: Any = None,
    **named: Any,
) -> torch.Tensor:  # fmt: skip
    """
    Computes the attention of new rows only, where SGLang's torch backend computes that of the whole prompt.

    It would take as long after a reused prefix as without, nearly. Called around SGLang's own function.
    """
    is_plain = (
        encoder_lens is None and named.get("causal") and not named.get("is_cross_attn")
        and named.get("sliding_window_size") is None and query.dtype == k_cache.dtype == v_cache.dtype
    )  # fmt: skip
    if not is_plain or scaling is None or not bool((extend_prefix_lens > 0).all()):
        return original(
            backend, query, output, k_cache, v_cache, req_to_token, req_pool_indices, seq_lens, extend_prefix_lens,
            extend_seq_lens, encoder_lens, scaling=scaling, **named,
        )  # fmt: skip
    first = 0
    for pool_row, begin, end in zip(
        req_pool_indices.tolist(), extend_prefix_lens.tolist(), seq_lens.tolist(), strict=True
    ):
        part = slice(first, first + end - begin)
        rows = torch.arange(begin, end, device=query.device)
        attend_rows(query[part], k_cache, v_cache, req_to_token[pool_row].long(), rows, scaling, output[part])
        first = part.stop
    return output
