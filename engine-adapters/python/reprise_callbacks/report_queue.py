"""The way from the engine's thread to the sender's."""

from collections import deque
from typing import Any


class ReportQueue:
    """
    A bounded queue of reports between two threads: putting never blocks, and an overflow is told to the taker.

    Putting wakes nobody: on virtual machines waking a thread costs the one that does it up to 0.1 ms.
    """

    def __init__(self, most_facts: int) -> None:
        self._most_facts = most_facts
        self._reports: deque[tuple[Any, int]] = deque()
        # each counter has one writer, so that neither thread needs a lock
        self._put = 0
        self._taken = 0
        self._overflowed = False

    def put(self, report: Any, facts: int) -> None:
        """Adds a report that tells so many facts, or drops it and all that follow until the overflow is taken."""
        if self._overflowed:
            return
        if self._put - self._taken + facts > self._most_facts:
            self._overflowed = True
            return
        self._put += facts
        self._reports.append((report, facts))

    def take(self) -> Any | None:
        """The oldest report; none when there is none."""
        if not self._reports:
            return None
        report, facts = self._reports.popleft()
        self._taken += facts
        return report

    def take_overflow(self) -> bool:
        """Whether reports were dropped. The taker must then forget all it was told, and only what follows counts."""
        if not self._overflowed:
            return False
        while self.take() is not None:
            pass
        # not before the queue is empty: what is put from now on must not be thrown away with what came before
        self._overflowed = False
        return True
