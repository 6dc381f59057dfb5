"""What is counted and observed on the scheduler's side, until vLLM collects it."""

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from reprise_reuse.prompts.claims import Seconds
from reprise_vllm.reuse.messages import WorkerReport
from reprise_vllm.reuse.scheduler.asked import Asked
from reprise_vllm.reuse.scheduler.count_tokens import Counts, count_stock_tokens


class Observations:
    """Counts since the start, and observed values since the last collection."""

    def __init__(self) -> None:
        self.counts: Counts = Counter()
        """by (what, kind), as in `usage.engine_metrics`"""
        self._taken: Counts = Counter()
        self._values: dict[tuple[str, str], list[float]] = {}
        # requests whose prompt is computed, and whose first token is not here yet
        self._answering: dict[str, Asked] = {}

    def heard(self, report: WorkerReport) -> None:
        """Adds what workers report."""
        self.counts.update({("segments", "refused"): report.refused, ("segments", "unwritten"): report.unwritten})
        self.counts.update({("faults", what): count for what, count in report.faults.items()})
        self.counts.update(report.figures)
        if report.divergences:
            self._values.setdefault(("divergence", "reused"), []).extend(report.divergences)

    def predicted(self, seconds: Seconds) -> None:
        """Adds what a load is predicted to take."""
        for phase in ("filling", "question", "rows", "saved"):
            self.counts["predicted", phase] += getattr(seconds, phase)

    def prompt_computed(self, asked: Asked) -> None:
        """This step's forward completes the request's prompt."""
        self._answering[asked.request.request_id] = asked
        if asked.is_counted:
            return
        count_stock_tokens(self.counts, asked)
        if asked.unclaimed_because is not None:
            self.counts["stock", asked.unclaimed_because] += 1

    def step_processed(self) -> None:
        """Notes how long requests waited for their first token."""
        for request_id, asked in list(self._answering.items()):
            if asked.request.num_output_tokens:
                waited = time.time() - asked.request.arrival_time
                self._values.setdefault(("answer", asked.kind), []).append(waited)
                del self._answering[request_id]

    def finished(self, asked: Asked) -> None:
        """The request has ended, perhaps before its first token."""
        self.step_processed()
        self._answering.pop(asked.request.request_id, None)

    def take(self) -> Mapping[tuple[str, str], Any]:
        """Returns counts and lists of values since the last call."""
        fresh, values = self.counts - self._taken, self._values
        if fresh:
            self._taken = self.counts.copy()
        self._values = {}
        return {**fresh, **values}
