"""The side of an engine that fills rows, as its self-test and its measurements use it."""

from typing import Any, Protocol

from reprise_reuse.costs import Costs
from reprise_reuse.host_store import HostStore
from reprise_reuse.pieces import Load
from reprise_reuse.rows.compare_answers import Checking
from reprise_reuse.rows.faults import FailedLoads
from reprise_reuse.rows.stored_rows import StoredRows


class NotProvenError(Exception):
    """What this engine computes for reuse is not what it computes itself; the message says how it differs."""


class ProvedWorker(Checking, Protocol):
    """Fills rows of loads, and keeps rows in host memory."""

    layout: Any
    """with `rounding`: how far a number in the pages may be from the one computed, relative to it"""
    longest: int
    """tokens of the longest prompt"""
    store: HostStore
    stored: StoredRows
    costs: Costs
    failed: FailedLoads

    def load_now(self, load: Load) -> None:
        """Fills all rows of a load, and waits until it is known whether they were what was stored; else it `failed`."""
