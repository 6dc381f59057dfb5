"""What is counted, in SGLang's own metrics (`--enable-metrics`)."""

from collections import Counter

_COUNTERS = {
    "tokens": ("sglang:reprise_prompt_tokens", "Prompt tokens of segments: exact, reused, recomputed.", "kind"),
    "stock": ("sglang:reprise_stock_requests", "Prefills for which nothing was reused, by reason.", "reason"),
    "segments": ("sglang:reprise_segments", "Segments: stored, averaged, evicted, lost.", "event"),
    "faults": ("sglang:reprise_faults", "Faults of reuse that were contained, by what failed.", "what"),
}


class ReuseMetrics:
    """Exports counts since the start as Prometheus counters, one per `what`, labelled by kind."""

    def __init__(self) -> None:
        # SGLang collects over processes what this library counts in any of them, if it is imported late enough
        import prometheus_client

        self._counters = {
            what: prometheus_client.Counter(name, text, [label]) for what, (name, text, label) in _COUNTERS.items()
        }
        self._exported: Counter[tuple[str, str]] = Counter()

    def update(self, counts: Counter[tuple[str, str]]) -> None:
        """counts  by (what, kind)"""
        for (what, kind), count in (counts - self._exported).items():
            self._counters[what].labels(kind).inc(count)
        self._exported = counts.copy()
