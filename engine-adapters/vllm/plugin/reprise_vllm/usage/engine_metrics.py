"""Counts what was reused and what was not, for vLLM's own metrics."""

from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats

from reprise_settings.reuse_counters import DIVERGENCE, REUSE_COUNTERS

if TYPE_CHECKING:
    from vllm.config import VllmConfig

_COUNTERS = REUSE_COUNTERS | {
    "loads": ("loads", "Loads of reused rows: in one step, late over several, or failed.", "kind"),
    "load_rows": ("load_rows", "Rows that loads have computed.", "kind"),
    "load_steps": ("load_steps", "Steps in which loads were worked on.", "kind"),
    "seconds": (
        "phase_seconds",
        "Seconds on the device: filling, question, rows of loads; check; context: segments computed again while idle.",
        "phase",
    ),
    "predicted": (
        "predicted_seconds",
        "The same for loads as predicted, and saved: what vLLM need not compute because of them.",
        "phase",
    ),
    "borders": ("border_requests", "Requests with borders for checkpoints: set, malformed, foreign.", "kind"),
    "pages_requests": ("page_requests", "Requests whose decode steps read chosen pages.", "kind"),
    "pages_stock": ("page_stock_requests", "Requests that asked for it and read all pages.", "reason"),
    "pages_read": ("pages", "Pages of sparse decode steps: listed, and all there were.", "kind"),
    "pages_choices": ("page_choices", "Times that a request's pages were chosen.", "kind"),
    "pages_refused": ("page_refusals", "Times that selection ended for good.", "reason"),
}
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_HISTOGRAMS = {
    "answer": (
        "time_to_first_token_seconds",
        "Seconds from a request's arrival to its first token: stock, cold, reused or late.",
        _SECONDS,
    ),
    "divergence": DIVERGENCE,
}


class ReuseStats(KVConnectorStats):
    """What happened since the last collection, as `what/kind` -> count, or a list of observed values."""

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> "ReuseStats":
        for name, one in other.data.items():
            self.data[name] = self.data[name] + one if name in self.data else one
        return self

    def reduce(self) -> dict[str, int | float]:
        return {name: sum(one) / len(one) if isinstance(one, list) else one for name, one in self.data.items()}

    def is_empty(self) -> bool:
        return not self.data


class ReuseMetrics(KVConnectorPromMetrics):
    """Exports counts as Prometheus counters and observed values as histograms, one per `what`, labelled by kind."""

    def __init__(
        self,
        config: "VllmConfig",
        metric_types: dict[type, type],
        labels: list[str],
        engines: dict[int, list[object]],
    ) -> None:
        super().__init__(config, metric_types, labels, engines)
        self._counters = {
            what: self._counter_cls(name=f"vllm:reprise_{name}", documentation=text, labelnames=[*labels, kind])
            for what, (name, text, kind) in _COUNTERS.items()
        }
        self._histograms = {
            what: self._histogram_cls(
                name=f"vllm:reprise_{name}", documentation=text, buckets=buckets, labelnames=[*labels, "kind"]
            )
            for what, (name, text, buckets) in _HISTOGRAMS.items()
        }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, one in transfer_stats_data.items():
            what, kind = name.split("/", 1)
            labels = *self.per_engine_labelvalues[engine_idx], kind
            if what in self._histograms:
                for value in one:
                    self._histograms[what].labels(*labels).observe(value)
            else:
                self._counters[what].labels(*labels).inc(one)
