"""Records, in a worker, the entropy of what requests write, page by page, as serving judges it."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from vllm.v1.sample.logits_processor.interface import LogitsProcessor, MoveDirectionality

from reprise_vllm.select_pages.rows import SparseRows
from reprise_vllm.select_pages.uncertainty import page_entropies

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor.interface import BatchUpdate

NAMED = "reprise_calibrates"
"""the name in `extra_args` of what a request is recorded under; others are not"""

Pages = dict[str, list[tuple[float, float]]]

_recorder: "EntropyRecorder | None" = None


class EntropyRecorder(LogitsProcessor):
    """Changes no logit. Of model runner V1 alone, since that tells which rows have begun to answer."""

    def __init__(self, vllm_config: "VllmConfig", device: torch.device, is_pin_memory: bool) -> None:
        global _recorder
        most = vllm_config.scheduler_config.max_num_seqs
        self._page = vllm_config.cache_config.block_size
        self._rows = SparseRows(most, most)
        self._state = torch.zeros(most, 3, device=device)
        self._held: dict[int, tuple[str, list[int]]] = {}
        """of each slot the request's name, and its answer as it grows"""
        self.pages: Pages = {}
        """of each request: mean and variance of each page's entropies"""
        _recorder = self

    def is_argmax_invariant(self) -> bool:
        # what is greedy is not shown to processors that are
        return False

    def update_state(self, batch_update: "BatchUpdate | None") -> None:
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.remove(row)
        for row, params, _, output in batch_update.added:
            name = (params.extra_args or {}).get(NAMED)
            slot = self._rows.add(row, None if name is None else 1.0)
            if slot is not None:
                self._state[slot] = 0
                self._held[slot] = name, output
        for one, two, direction in batch_update.moved:
            self._rows.move(one, two, is_swap=direction == MoveDirectionality.SWAP)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        for slot, (_, output) in self._held.items():
            # the first token is the prefill's; parts of a prefill have logits too
            self._rows.listed[slot] = len(output) > 0
        row, slots = self._rows.sampling(range(len(logits)))
        if len(row):
            self._follow(logits[torch.from_numpy(row).to(logits.device)], slots)
        return logits

    def _follow(self, logits: torch.Tensor, slots: np.ndarray) -> None:
        at = torch.from_numpy(slots).to(logits.device)
        state = self._state.index_select(0, at)
        figures, _ = page_entropies(logits, state, self._page, 0.0, 0.0)
        self._state[at] = state
        for slot, (mean, variance) in zip(slots.tolist(), figures.tolist(), strict=True):
            if mean == mean:
                self.pages.setdefault(self._held[slot][0], []).append((mean, variance))


class PageEntropies:
    """What is added to vLLM's workers: `collective_rpc` calls it by name."""

    def take_reprise_page_entropies(self, _: Any = None) -> tuple[int, Pages]:
        """The tokens of a page, and what was recorded since this was last asked; each rank records the same."""
        assert _recorder is not None
        taken, _recorder.pages = _recorder.pages, {}
        return _recorder._page, taken
