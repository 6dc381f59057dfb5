"""The logits processor through which both of vLLM's model runners report which request is in which row."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from reprise_settings.page_settings import MALFORMED, asked_ratio
from reprise_vllm.engine.contained import contained
from reprise_vllm.select_pages.page_worker import page_worker
from reprise_vllm.usage.figures import NAMED

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.sample.logits_processor.interface import BatchUpdate


def _kinds() -> tuple[type, ...]:
    """Returns the interfaces of the runners that this vLLM has: of the two it may have only one."""
    found = []
    for package in ("vllm.v1.sample", "vllm.v1.worker.gpu.sample"):
        with suppress(ImportError):
            found.append(import_module(f"{package}.logits_processor.interface").LogitsProcessor)
    return tuple(found)


class PageProcessor(*_kinds()):
    """
    Changes no logits. It exists because vLLM gives plugins no other access to the rows of a batch.

    Both runners load processors from the same entry point, and V2 aborts startup if a class is not of its own kind. So
    this class is of both kinds. V1 calls `update_state` and `apply(logits)`, V2 `add_request` and `apply(logits,
    context)`.
    """

    def __init__(self, vllm_config: "VllmConfig", *_: Any) -> None:
        self._worker = page_worker(vllm_config)
        if self._worker is not None:
            if self._worker.has_processor:
                # also named on the command line, in addition to the entry point
                self._worker = None
            else:
                self._worker.has_processor = True

    @classmethod
    def validate_params(cls, sampling_params: "SamplingParams") -> None:
        """Refuses no request: one with an invalid wish is served as stock, and counted."""
        return

    def is_argmax_invariant(self) -> bool:
        # vLLM skips argmax-invariant processors for greedy requests
        return self._worker is None or not self._worker.settings.backtracks

    @contained("following the batch")
    def update_state(self, batch_update: "BatchUpdate | None") -> None:
        if batch_update is not None and self._worker is not None:
            self._worker.rows.follow(batch_update, lambda row, params, *_: self._add(row, params))

    def add_request(self, req_idx: int, sampling_params: "SamplingParams") -> bool:
        if self._worker is not None:
            self._add(req_idx, sampling_params)
        return not self.is_argmax_invariant()

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        if self._worker is not None and self._worker.uncertain is not None:
            self._follow(logits, range(len(logits)) if ctx is None else ctx.idx_mapping_np)
        return logits

    def give_up(self, _: str) -> None:
        """Ends selection after a fault."""
        worker = self._worker
        worker.uncertain = None
        if worker.selection is not None and worker.selection.refusal is None:
            worker.selection.give_up("fault", sys.exc_info()[1])

    @contained("judging uncertainty")
    def _follow(self, logits: torch.Tensor, holders: Sequence[int]) -> None:
        row, slots = self._worker.rows.sampling(holders)
        if len(row):
            row, slots = (torch.from_numpy(one).to(logits.device) for one in (row, slots))
            self._worker.uncertain.follow(logits[row], slots)

    @contained("adding a request")
    def _add(self, holder: int, params: "SamplingParams | None") -> None:
        worker = self._worker
        ratio = asked_ratio(params.extra_args if params else None, worker.settings.min_ratio)
        if ratio == MALFORMED:
            worker.rows.counts["pages_stock", MALFORMED] += 1
            ratio = None
        elif ratio is not None and (reason := worker.why_stock()) is not None:
            worker.rows.counts["pages_stock", reason] += 1
            ratio = None
        slot = worker.rows.add(holder, ratio, None if ratio is None else params.extra_args.get(NAMED))
        if slot is not None and worker.uncertain is not None:
            worker.uncertain.begin(slot)
