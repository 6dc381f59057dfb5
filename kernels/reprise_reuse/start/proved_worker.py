"""The side of an engine that fills rows, as its self-test and its measurements use it."""

from typing import Any, Protocol

import torch

from reprise_reuse.costs import Costs
from reprise_reuse.host_store import HostStore
from reprise_reuse.pieces import Load
from reprise_reuse.rows.clock import Clock
from reprise_reuse.rows.engine_parts import Forward
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.faults import FailedLoads, FaultReport
from reprise_reuse.rows.stored_rows import StoredRows


class NotProvenError(Exception):
    """What this engine computes for reuse is not what it computes itself; the message says how it differs."""


class ProvedWorker(Protocol):
    """Fills rows of loads, and keeps rows in host memory."""

    layer: Any
    """an attention layer, with `num_heads`, `num_kv_heads` and `head_size`; all have the same"""
    layout: Any
    """with `rounding`: how far a number in the pages may be from the one computed, relative to it"""
    device: torch.device
    longest: int
    """tokens of the longest prompt"""
    forward: Forward
    pages: PromptPages
    store: HostStore
    stored: StoredRows
    costs: Costs
    clock: Clock
    report: FaultReport
    failed: FailedLoads

    def load_now(self, load: Load) -> None:
        """Fills all rows of a load, and waits until it is known whether they were what was stored; else it `failed`."""
        ...
