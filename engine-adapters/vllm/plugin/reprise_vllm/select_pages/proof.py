"""The self-test, before the first step with a sparse request."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from vllm.v1.attention.backend import CommonAttentionMetadata

    from reprise_vllm.select_pages.selection import PageSelection

# relative to the largest number in a layer's output: another order of pages is another order of summation
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}
_TF32_TOLERANCE = 1e-2
"""of float32 on a GPU, whose attention kernels may multiply in TF32"""


def prove(
    selection: "PageSelection", common: "CommonAttentionMetadata", row: int, holder: int, build: Callable[..., Any]
) -> None:
    """
    Raises ValueError unless in every layer attention over our table of all pages, in any order, equals attention over
    the whole context, and summaries are built from the keys that the kernel reads.

    common  a step's, before its forward; row: of one of its decoding requests, and its holder

    The context is that request's, without the token that this step will write; the query is random. Waits for the
    device.
    """
    length = int(common.seq_lens_cpu_upper_bound[row]) - 1
    alone = _alone(common, row, holder, length)
    shape, layers = selection.shape, selection.layers
    query = torch.randn(1, shape.heads * shape.queries, shape.head_dim, generator=torch.Generator().manual_seed(0))
    query = query.to(layers[0].kv_cache)
    stock = build(alone, fast_build=True)
    expected = [_attend(layer, query, stock, shape.heads) for layer in layers]
    step = selection.rewrite(alone, all_pages=True)
    ours = build(step.rewritten, fast_build=True)
    blocks = common.block_table_tensor[row, : -(-length // shape.page)].long()
    for index, layer in enumerate(layers):
        if selection.selector.per_layer:
            selection.in_layer(step, index, query)
        got = _attend(layer, query, ours, shape.heads)
        _compare(expected[index], got, f"all pages in layer {index} are not the whole context")
        if index in (0, len(layers) - 1):
            keys, values = selection.chooser.layout.read(layer.kv_cache, blocks, 0, length)
            read = _attention(query.view(shape.heads, shape.queries, 1, -1), keys, values, layer.impl, shape.scale)
            _compare(read, expected[index], f"keys of layer {index} are not what its pages hold")


def _alone(common: "CommonAttentionMetadata", row: int, holder: int, length: int) -> "CommonAttentionMetadata":
    """Returns metadata of a step in which only this request decodes its last written token."""
    device = common.seq_lens.device
    starts, lengths = torch.tensor([0, 1], dtype=torch.int32), torch.tensor([length], dtype=torch.int32)
    return type(common)(
        query_start_loc=starts.to(device), query_start_loc_cpu=starts, seq_lens=lengths.to(device),
        seq_lens_cpu_upper_bound=lengths, num_reqs=1, num_actual_tokens=1, max_query_len=1, max_seq_len=length,
        block_table_tensor=common.block_table_tensor[row : row + 1],
        # nothing is written
        slot_mapping=torch.full_like(common.slot_mapping[:1], -1), is_prefilling=torch.tensor([False]),
        req_idx=np.array([holder]),
    )  # fmt: skip


def _attend(layer: Any, query: torch.Tensor, metadata: Any, heads: int) -> torch.Tensor:
    output, unused = torch.zeros_like(query), query.new_zeros(1, heads, query.shape[-1])
    layer.impl.forward(layer, query, unused, unused, layer.kv_cache, metadata, output=output)
    return output


def _attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, impl: Any, scale: float) -> torch.Tensor:
    cap = getattr(impl, "logits_soft_cap", None) or 0
    scores = query.float() * scale @ keys.float().permute(1, 2, 0)[:, None]
    weights = (cap * torch.tanh(scores / cap) if cap else scores).softmax(-1)
    return weights @ values.float().transpose(0, 1)[:, None]


def _compare(expected: torch.Tensor, got: torch.Tensor, wrong: str) -> None:
    expected = expected.float().flatten()
    error = (expected - got.float().flatten()).abs().max() / expected.abs().max().clamp_min(1e-6)
    is_tf32 = got.dtype == torch.float32 and got.device.type != "cpu"
    if not float(error) <= (_TF32_TOLERANCE if is_tf32 else _TOLERANCE.get(got.dtype, 4e-2)):
        raise ValueError(f"{wrong}: off by {float(error):.1e}")
