"""Counts contained faults, and ends reuse if they keep coming."""

from collections import Counter
from logging import Logger
from typing import Protocol

_OF_A_FAULT = 10
_MOST = 3 * _OF_A_FAULT


class FaultReport(Protocol):
    """What is reported of faults."""

    faults: Counter[str]
    """by what failed"""
    refusals: list[str]
    """why nothing is reused any more"""


class Faults:
    """The faults of a worker: three end reuse. Ten slices of loads that were computed without any make up for one."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._score = 0

    def happened(self, what: str, says: str, report: FaultReport) -> None:
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
