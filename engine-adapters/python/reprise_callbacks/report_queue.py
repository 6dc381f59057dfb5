"""Passes reports from the engine's thread to the sender's."""

from collections import deque
from typing import Any


class ReportQueue:
    """
    A bounded queue of reports between two threads. `put` never blocks, and the taker learns of an overflow.

    `put` wakes nobody: on virtual machines, waking a thread costs the caller up to 0.1 ms.
    """

    def __init__(self, most_facts: int) -> None:
        self._most_facts = most_facts
        self._reports: deque[tuple[Any, int]] = deque()
        # each counter has one writer, so that neither thread needs a lock
        self._put = 0
        self._taken = 0
        self._overflowed = False

    def put(self, report: Any, facts: int) -> None:
        """Adds a report of `facts` facts. If it does not fit, drops it and all that follow until `take_overflow`."""
        if self._overflowed:
            return
        if self._put - self._taken + facts > self._most_facts:
            self._overflowed = True
            return
        self._put += facts
        self._reports.append((report, facts))

    def take(self) -> Any | None:
        """Removes and returns the oldest report, or None if there is none."""
        if not self._reports:
            return None
        report, facts = self._reports.popleft()
        self._taken += facts
        return report

    def take_overflow(self) -> bool:
        """Returns whether reports were dropped; if so, empties the queue, and the taker must forget all it learned."""
        if not self._overflowed:
            return False
        self._reports.clear()
        self._taken = self._put
        # reset only once the queue is empty: reports put from now on must not be thrown away with the old ones
        self._overflowed = False
        return True
