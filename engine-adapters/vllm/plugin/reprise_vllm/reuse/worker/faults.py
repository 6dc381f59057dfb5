"""Counts contained faults, and ends reuse if they keep coming."""

from logging import Logger

from reprise_vllm.reuse.messages import WorkerReport

_OF_A_FAULT = 10
_MOST = 3 * _OF_A_FAULT


class Faults:
    """The faults of a worker: three end reuse. Ten slices of loads that were computed without any make up for one."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._score = 0

    def happened(self, what: str, says: str, report: WorkerReport) -> None:
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
