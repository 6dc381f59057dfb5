"""What is counted, in SGLang's own metrics (`--enable-metrics`)."""

from collections import Counter

from reprise_settings.reuse_counters import REUSE_COUNTERS

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
            what: prometheus_client.Counter(f"sglang:reprise_{name}", text, [label])
            for what, (name, text, label) in REUSE_COUNTERS.items()
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
