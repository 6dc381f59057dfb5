"""The side of an engine that fills rows, and its contained faults."""

from collections.abc import Iterable
from logging import Logger
from typing import Any

import torch

from reprise_reuse.costs import EVEN
from reprise_reuse.device import Clock
from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import ReuseReport
from reprise_reuse.host_store import HostStore
from reprise_reuse.pieces import Load, Move, Piece
from reprise_reuse.remote.remote_tier import RemoteTier
from reprise_reuse.remote.tiers import Tiers
from reprise_reuse.rows.engine_parts import Forward
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.stored_rows import StoredRows

_OF_A_FAULT = 10
_MOST = 3 * _OF_A_FAULT


class Faults:
    """The faults of a worker: three end reuse. Ten slices of loads that were computed without any make up for one."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._score = 0

    def happened(self, what: str, says: str, report: ReuseReport) -> None:
        """Logs the exception being handled, and counts it as `what`; repeated, it becomes a refusal in the report."""
        if self._score > _MOST:
            return
        self._logger.exception("reprise: %s", says)
        report.faults[what] += 1
        self._score += _OF_A_FAULT
        if self._score >= _MOST:
            self._score = _MOST + 1
            report.refusals.append(f"{what} failed again and again")

    def none_happened(self) -> None:
        """A slice of a load was computed."""
        if self._score <= _MOST:
            self._score = max(0, self._score - 1)


class Worker:
    """Fills rows of loads, and keeps rows in host memory and behind it. A contained fault costs only its own rows."""

    layer: Any
    """an attention layer, with `num_heads`, `num_kv_heads` and `head_size`; all have the same"""
    layout: Any
    """with `rounding`: how far a number in the pages may be from the one computed, relative to it"""
    longest: int
    """tokens of the longest prompt"""
    forward: Forward
    pages: PromptPages
    stored: StoredRows

    def __init__(
        self, device: torch.device, store: HostStore, tiers: tuple[DiskTier | None, RemoteTier | None],
        report: ReuseReport, logger: Logger,
    ) -> None:  # fmt: skip
        """tiers: as `open_tiers` returns them; report: an empty one"""
        self.device, self.store, self.report = device, store, report
        self.tiers = Tiers(*tiers, store, logger)
        self.costs, self.clock = EVEN, Clock(device)
        self.is_compared = False
        """whether rows were compared with the engine's own"""
        self._logger, self._faults = logger, Faults(logger)

    def load_now(self, load: Load) -> bool:
        """Fills all rows of a load, and waits until it is known whether they were what was stored; returns whether."""
        raise NotImplementedError

    def _lose(self, rows: Iterable[Move | Piece]) -> None:
        """Marks the segments of these rows as lost, so that nothing uses them."""
        for one in rows:
            if one.slots is not None:
                self.store.forget(torch.from_numpy(one.slots), one.owner)
            self.report.lost.add(one.owner)
