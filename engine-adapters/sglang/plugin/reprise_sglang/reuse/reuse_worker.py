"""Fills the rows of requests before SGLang's own forward, and keeps computed rows in host memory."""

from collections.abc import Sequence
from logging import Logger
from typing import Any

import torch

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import ReuseReport, TierOrders
from reprise_reuse.host_store import HostStore, RowShape
from reprise_reuse.pieces import Check, Load, Save
from reprise_reuse.remote.remote_tier import RemoteTier
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows.compare_answers import report_check
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.row_choice import OpenLoad, choose_rows
from reprise_reuse.rows.row_pass import compute_rows
from reprise_reuse.rows.stored_rows import StoredRows
from reprise_reuse.rows.worker import Worker
from reprise_reuse.start.prove_reuse import refuse_unless_like_engine
from reprise_sglang.reuse.nested_forward import NestedForward
from reprise_sglang.reuse.pool_rows import PoolLayer, PoolLayout, pages_of


class ReuseWorker(Worker):
    """
    Fills and computes rows of loads at once, or says that it could not.

    SGLang's scheduler has allocated the slots of the whole prompt and computes what was not filled, so that nothing has
    to be taken back if a load fails.
    """

    def __init__(
        self, runner: Any, attention: Sequence[Any], rotary: tuple[torch.Tensor, bool], shape: RowShape,
        host_slots: int, tiers: tuple[DiskTier | None, RemoteTier | None], logger: Logger,
    ) -> None:  # fmt: skip
        """attention: the model's attention layers; rotary: its rotary embedding's table, and whether it is NeoX'"""
        caches = pages_of(runner.token_to_kv_pool, range(len(attention)))
        device, (table, is_neox) = caches[0].device, rotary
        rotation = KeyRotation(table.to(device), is_neox=is_neox)
        store = HostStore(host_slots, shape, rotation, pinned=device.type == "cuda")
        super().__init__(device, store, tiers, ReuseReport(), logger)
        self.layer, self.layout = PoolLayer(attention[0]), PoolLayout()
        self.longest = runner.model_config.context_len
        scale = float(attention[0].scaling)
        self.forward = NestedForward(runner, caches, scale)
        self.pages = PromptPages(self.forward, self.layout, caches, scale, rotation.positions, ranks=1)
        # in torch, a question's attention waits for the device in every layer
        self.pages.reads_in_place = device.type == "cuda"
        layers = [self.layer] * len(caches)
        self.stored = StoredRows(layers, caches, self.layout, len(caches[0].keys), rotation, store)

    @torch.inference_mode()
    def load(self, loads: Sequence[Load]) -> list[Load]:
        """Fills all rows of loads; those of any other load than the ones returned are left to SGLang."""
        try:
            opened = []
            with self.clock.phase("filling"):
                for load in loads:
                    one = OpenLoad.of(load, self.layout.block_size, self.device)
                    lost = one.fill(self.stored)
                    self.report.lost |= lost
                    if not lost:
                        opened.append(one)
            with self.clock.phase("question"):
                choose_rows(self.pages, opened)
            parts = [(one, one.rows) for one in opened if len(one.rows)]
            with self.clock.phase("rows"):
                if parts:
                    compute_rows(self.pages, parts)
        except Exception:
            self._faults.happened("loading", "requests' rows could not be reused, SGLang computes them", self.report)
            return []
        self._faults.none_happened()
        return [one.load for one in opened]

    def load_now(self, load: Load) -> bool:
        return bool(self.load([load]))

    @torch.inference_mode()
    def save(self, save: Save) -> None:
        """Stores rows that a forward has computed."""
        refuse_unless_like_engine(self, save, self._logger)
        try:
            self.stored.save(save)
        except Exception:
            self._faults.happened("storing", "segments were not stored", self.report)
            self._lose(save.pieces)

    @torch.inference_mode()
    def check(self, check: Check) -> None:
        """Compares an answer's first token with full attention's, which takes as long as a cold prefill."""
        report_check(self, check, self._faults)

    def tend(self, orders: TierOrders) -> None:
        """Drops files, starts reads and lookups, puts what was read into host memory, and queues writes."""
        self.tiers.tend(orders, self.report)
        self.tiers.write(orders)
        self.tiers.report(self.report)

    def take_report(self) -> ReuseReport:
        """Returns what happened since the last call."""
        report, self.report = self.report, ReuseReport()
        return report
