"""What every engine's plugin counts of reuse, in the engine's own metrics."""

REUSE_COUNTERS = {
    "tokens": ("prompt_tokens", "Prompt tokens: exact, reused, recomputed or cold.", "kind"),
    "stock": ("stock_requests", "Requests served as without reuse.", "reason"),
    "segments": ("segments", "Segments: stored, averaged, evicted, lost, refused or unwritten.", "event"),
    "remote": (
        "remote",
        "The shared store: found, read, written, known, unwritten, missing, refused; looked_up, keys; failed.",
        "event",
    ),
    "remote_bytes": ("remote_bytes", "Bytes of rows from and to the shared store: read, written.", "kind"),
    "remote_seconds": ("remote_seconds", "Seconds that the shared store took: lookup, read.", "kind"),
    "checks": ("checks", "Checked answers: same or other most likely first token.", "kind"),
    "faults": ("faults", "Faults of reuse that were contained, by what failed.", "what"),
}
"""by the first part of what is counted: name after the engine's prefix, text, label"""
DIVERGENCE = (
    "check_divergence",
    "KL divergence of a first token's distribution under reuse from full attention's, in nats.",
    (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
)
"""a histogram: name after the engine's prefix, text, buckets"""
