"""What is counted, in SGLang's own metrics (`--enable-metrics`)."""

from collections import Counter

_COUNTERS = {
    "tokens": ("sglang:reprise_prompt_tokens", "Prompt tokens of segments: exact, reused, recomputed.", "kind"),
    "stock": ("sglang:reprise_stock_requests", "Prefills for which nothing was reused, by reason.", "reason"),
    "segments": ("sglang:reprise_segments", "Segments: stored, averaged, evicted, lost, refused, unwritten.", "event"),
    "remote": (
        "sglang:reprise_remote",
        "The shared store: found, read, written, known, unwritten, missing, refused; looked_up, keys; failed.",
        "event",
    ),
    "remote_bytes": ("sglang:reprise_remote_bytes", "Bytes of rows from and to the shared store.", "kind"),
    "remote_seconds": ("sglang:reprise_remote_seconds", "Seconds that the shared store took: lookup, read.", "kind"),
    "checks": ("sglang:reprise_checks", "Checked answers: same or other most likely first token.", "kind"),
    "faults": ("sglang:reprise_faults", "Faults of reuse that were contained, by what failed.", "what"),
}
_DIVERGENCE = (
    "sglang:reprise_check_divergence",
    "KL divergence of a first token's distribution under reuse from full attention's, in nats.",
)
_NATS = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class ReuseMetrics:
    """Exports counts since the start as Prometheus counters, one per `what`, labelled by kind; and divergences."""

    def __init__(self) -> None:
        # SGLang collects over processes what this library counts in any of them, if it is imported late enough
        import prometheus_client

        self._counters = {
            what: prometheus_client.Counter(name, text, [label]) for what, (name, text, label) in _COUNTERS.items()
        }
        self._divergence = prometheus_client.Histogram(*_DIVERGENCE, buckets=_NATS)
        self._exported: Counter[tuple[str, str]] = Counter()

    def update(self, counts: Counter[tuple[str, str]]) -> None:
        """counts  by (what, kind)"""
        for (what, kind), count in (counts - self._exported).items():
            self._counters[what].labels(kind).inc(count)
        self._exported = counts.copy()

    def diverged(self, nats: float) -> None:
        """A checked answer diverged so far from full attention's."""
        self._divergence.observe(nats)
