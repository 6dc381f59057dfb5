"""Counts what was reused and what was not, for vLLM's own metrics."""

from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats

if TYPE_CHECKING:
    from vllm.config import VllmConfig

_COUNTERS = {
    "tokens": ("vllm:reprise_prompt_tokens", "Prompt tokens: exact, reused, recomputed or cold.", "kind"),
    "stock": ("vllm:reprise_stock_requests", "Requests served as without reuse.", "reason"),
    "segments": ("vllm:reprise_segments", "Segments: stored, averaged, evicted, lost, refused or unwritten.", "event"),
    "faults": ("vllm:reprise_faults", "Faults of reuse that were contained, by what failed.", "what"),
    "borders": (
        "vllm:reprise_border_requests",
        "Requests with borders for checkpoints: set, malformed, foreign.",
        "kind",
    ),
    "pages_requests": ("vllm:reprise_page_requests", "Requests whose decode steps read chosen pages.", "kind"),
    "pages_stock": ("vllm:reprise_page_stock_requests", "Requests that asked for it and read all pages.", "reason"),
    "pages_read": ("vllm:reprise_pages", "Pages of sparse decode steps: listed, and all there were.", "kind"),
    "pages_choices": ("vllm:reprise_page_choices", "Times that a request's pages were chosen.", "kind"),
    "pages_refused": ("vllm:reprise_page_refusals", "Times that selection ended for good.", "reason"),
}


class ReuseStats(KVConnectorStats):
    """Counts since the last collection, as `what/kind` -> number."""

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> "ReuseStats":
        for name, count in other.data.items():
            self.data[name] = self.data.get(name, 0) + count
        return self

    def reduce(self) -> dict[str, int | float]:
        return dict(self.data)

    def is_empty(self) -> bool:
        return not self.data


class ReuseMetrics(KVConnectorPromMetrics):
    """Exports the counts as Prometheus counters, one per `what`, labelled by kind."""

    def __init__(
        self,
        config: "VllmConfig",
        metric_types: dict[type, type],
        labels: list[str],
        engines: dict[int, list[object]],
    ) -> None:
        super().__init__(config, metric_types, labels, engines)
        self._counters = {
            what: self._counter_cls(name=name, documentation=text, labelnames=[*labels, kind])
            for what, (name, text, kind) in _COUNTERS.items()
        }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, count in transfer_stats_data.items():
            what, kind = name.split("/", 1)
            self._counters[what].labels(*self.per_engine_labelvalues[engine_idx], kind).inc(count)
