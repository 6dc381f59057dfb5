"""Records the entropy of requests' output in a worker, page by page, computed as in serving."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from vllm.v1.sample.logits_processor.interface import LogitsProcessor

from reprise_vllm.select_pages.sparse_rows import SparseRows
from reprise_vllm.select_pages.uncertainty import page_entropies

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor.interface import BatchUpdate

NAMED = "reprise_calibrates"
"""key in `extra_args` for the name a request is recorded under; requests without it are not recorded"""

Pages = dict[str, list[tuple[float, float]]]

_recorder: "EntropyRecorder | None" = None


class EntropyRecorder(LogitsProcessor):
    """Changes no logits. Works only with model runner V1, which exposes which rows have begun to answer."""

    def __init__(self, vllm_config: "VllmConfig", device: torch.device, is_pin_memory: bool) -> None:
        global _recorder
        most = vllm_config.scheduler_config.max_num_seqs
        self._page = vllm_config.cache_config.block_size
        self._rows = SparseRows(most, most)
        self._state = torch.zeros(most, 3, device=device)
        self._held: dict[int, tuple[str, list[int]]] = {}
        """by slot: the request's name, and its output so far (a live list)"""
        self.pages: Pages = {}
        """by request: mean and variance of each page's entropies"""
        _recorder = self

    def is_argmax_invariant(self) -> bool:
        # vLLM skips argmax-invariant processors for greedy requests
        return False

    def update_state(self, batch_update: "BatchUpdate | None") -> None:
        if batch_update is not None:
            self._rows.follow(batch_update, self._add)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        for slot, (_, output) in self._held.items():
            # the first token comes from the prefill, and chunks of a prefill have logits too
            self._rows.listed[slot] = len(output) > 0
        row, slots = self._rows.sampling(range(len(logits)))
        if len(row):
            self._follow(logits[torch.from_numpy(row).to(logits.device)], slots)
        return logits

    def _add(self, row: int, params: Any, _: Any, output: list[int]) -> None:
        name = (params.extra_args or {}).get(NAMED)
        slot = self._rows.add(row, None if name is None else 1.0)
        if slot is not None:
            self._state[slot] = 0
            self._held[slot] = name, output

    def _follow(self, logits: torch.Tensor, slots: np.ndarray) -> None:
        at = torch.from_numpy(slots).to(logits.device)
        state = self._state.index_select(0, at)
        figures, _ = page_entropies(logits, state, self._page, 0.0, 0.0)
        self._state[at] = state
        for slot, (mean, variance) in zip(slots.tolist(), figures.tolist(), strict=True):
            if mean == mean:
                self.pages.setdefault(self._held[slot][0], []).append((mean, variance))


class PageEntropies:
    """A worker extension for vLLM: `collective_rpc` calls its method by name."""

    def take_reprise_page_entropies(self, _: Any = None) -> tuple[int, Pages]:
        """Returns the tokens per page, and what was recorded since the last call. Each rank records the same."""
        assert _recorder is not None
        taken, _recorder.pages = _recorder.pages, {}
        return _recorder._page, taken
