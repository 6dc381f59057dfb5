"""
The self-test, in the first step with a sparse request: the step is served as stock, and compared with what our tables
would give.
"""

from collections.abc import Callable
from typing import Any

import torch

from reprise_vllm.select_pages.worker.selection import PageSelection
from reprise_vllm.select_pages.worker.step import SparseStep

# relative to the largest number in a layer's output: another order of pages is another order of summation
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}
_TF32_TOLERANCE = 1e-2
"""of float32 on a GPU, whose attention kernels may multiply in TF32"""


class Proof:
    """
    Proves that attention over our table of all pages, in any order, equals attention over the whole context, and that
    summaries are built from the keys that the kernel reads.
    """

    def __init__(self, selection: PageSelection, step: SparseStep, ours: Any) -> None:
        """ours: metadata of `step`, with all pages of every request listed."""
        self._selection, self._step, self._ours = selection, step, ours

    def see(
        self, index: int, query: torch.Tensor, output: torch.Tensor, attend: Callable[[Any, torch.Tensor], Any]
    ) -> None:
        """
        Compares one layer. After the last layer, selection starts.

        query, output  of the step; `attend(metadata, output)` is the layer's attention
        """
        selection = self._selection
        if selection.refusal is not None:
            return
        try:
            if selection.selector.per_layer:
                selection.in_layer(self._step, index, query)
            scratch = torch.zeros_like(output)
            attend(self._step.of_layer(self._ours, index), scratch)
            self._compare(output, scratch, f"all pages in layer {index} are not the whole context")
            if index in (0, len(selection.layers) - 1):
                self._compare_with_read_keys(index, query, output)
        except Exception as error:
            selection.give_up("self_test", error)
            return
        if index == len(selection.layers) - 1:
            selection.forget_choices(self._step)
            selection.is_proven = True

    def _compare_with_read_keys(self, index: int, query: torch.Tensor, output: torch.Tensor) -> None:
        """Compares the first sparse request's output with attention computed from what its pages hold."""
        selection, step, shape = self._selection, self._step, self._selection.shape
        at, row = int(step.queries[0]), int(step.rows[0])
        length = int(step.stock.seq_lens[row])
        blocks = step.source[0, : -(-length // shape.page)].long()
        keys, values = selection.summaries.layout.read(selection.layers[index].kv_cache, blocks, 0, length)
        mine = query[at].float().view(shape.heads, shape.queries, 1, shape.head_dim) * shape.scale
        cap = getattr(selection.layers[index].impl, "logits_soft_cap", None) or 0
        scores = mine @ keys.float().permute(1, 2, 0)[:, None]
        weights = (cap * torch.tanh(scores / cap) if cap else scores).softmax(-1)
        expected = (weights @ values.float().transpose(0, 1)[:, None]).flatten()
        self._compare(expected, output[at].flatten(), f"keys of layer {index} are not what its pages hold")

    def _compare(self, expected: torch.Tensor, got: torch.Tensor, wrong: str) -> None:
        error = (expected.float() - got.float()).abs().max() / expected.float().abs().max().clamp_min(1e-6)
        is_tf32 = got.dtype == torch.float32 and got.device.type != "cpu"
        if not float(error) <= (_TF32_TOLERANCE if is_tf32 else _TOLERANCE.get(got.dtype, 4e-2)):
            raise ValueError(f"{wrong}: off by {float(error):.1e}")
