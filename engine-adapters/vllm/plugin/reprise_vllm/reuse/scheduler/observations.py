"""What is counted and observed on the scheduler's side, until vLLM collects it."""

import time
from collections import Counter
from collections.abc import Sequence

from reprise_reuse.prompts.claims import Seconds
from reprise_vllm.reuse.scheduler.asked import Asked
from reprise_vllm.usage.engine_metrics import ReuseStats

Counts = Counter[tuple[str, str]]
"""by (what, kind)"""


class Observations:
    """Counts since the start, and observed values since the last collection."""

    def __init__(self, counts: Counts) -> None:
        """counts: by (what, kind), as in `usage.engine_metrics`; others count there, too"""
        self.counts = counts
        self._taken: Counts = Counter()
        self._values: dict[tuple[str, str], list[float]] = {}
        # requests whose prompt is computed, and whose first token is not here yet
        self._answering: dict[str, Asked] = {}

    def diverged(self, nats: Sequence[float]) -> None:
        """Adds by how much checked answers diverged from full attention's."""
        if nats:
            self._values.setdefault(("divergence", "reused"), []).extend(nats)

    def predicted(self, seconds: Seconds) -> None:
        """Adds what a load is predicted to take."""
        for phase in ("filling", "question", "rows", "saved"):
            self.counts["predicted", phase] += getattr(seconds, phase)

    def prompt_computed(self, asked: Asked) -> None:
        """This step's forward completes the request's prompt."""
        self._answering[asked.request.request_id] = asked
        if asked.is_counted:
            return
        stats = asked.request.prefill_stats
        exact = stats.num_cached_tokens if stats is not None else 0
        self._count_tokens(asked, exact=exact)
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
        """The request has ended, perhaps before its first token. By now it is known what was lost of its claim."""
        self.step_processed()
        self._answering.pop(asked.request.request_id, None)
        if asked.is_counted:
            self._count_tokens(asked, exact=asked.exact, reused=asked.reused, recomputed=asked.recomputed)

    def take(self) -> ReuseStats:
        """Returns counts and lists of values since the last call."""
        fresh, values = self.counts - self._taken, self._values
        self._taken, self._values = self.counts.copy(), {}
        return ReuseStats({"/".join(name): one for name, one in {**fresh, **values}.items()})

    def _count_tokens(self, asked: Asked, **by_kind: int) -> None:
        cold = asked.request.num_prompt_tokens - sum(by_kind.values())
        self.counts.update({("tokens", kind): count for kind, count in {**by_kind, "cold": cold}.items()})
