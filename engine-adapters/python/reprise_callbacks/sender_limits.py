"""What a sender may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """What the sender may take, of memory and of time."""

    queued_facts: int = 200_000
    """told by reports that the sender has not read yet; beyond them everything is forgotten and told anew"""
    untold_changes: int = 20_000
    """beyond them the receiver is cleared and sent a snapshot"""
    snapshot_bytes: int = 6 << 20
    """receivers refuse bodies above 8 MiB; the requests stored longest ago are forgotten"""
    events_per_post: int = 1000
    gap: float = 0.02
    """seconds between two looks at what was reported, and between two posts: one costs the interpreter 0.3 ms"""
    idle_gap: float = 0.1
    """between two looks after a second without a report"""
    heartbeat: float = 2.0
    """seconds after which an empty batch is posted, so that a receiver that began anew is noticed while all is quiet"""
    answer_timeout: float = 3.0
    first_pause: float = 0.1
    longest_pause: float = 2.0
    """between attempts while posts fail"""
