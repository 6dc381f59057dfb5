"""Limits of a sender."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """How much memory and time the sender may use."""

    queued_facts: int = 200_000
    """facts in reports the sender has not read yet; beyond this it forgets everything and starts over"""
    untold_changes: int = 20_000
    """beyond this the receiver is cleared and sent a snapshot"""
    snapshot_bytes: int = 6 << 20
    """receivers refuse bodies above 8 MiB; beyond this the requests stored longest ago are forgotten"""
    events_per_post: int = 1000
    gap: float = 0.02
    """seconds between two checks for reports and between two posts: a post costs the interpreter 0.3 ms"""
    idle_gap: float = 0.1
    """seconds between two checks after a second without a report"""
    heartbeat: float = 2.0
    """seconds after which an empty batch is posted, so that a restarted receiver is noticed even when idle"""
    answer_timeout: float = 3.0
    first_pause: float = 0.1
    longest_pause: float = 2.0
    """seconds between attempts while posts fail, at most"""
