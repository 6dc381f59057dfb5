"""Changes of an engine's cache, and the interface that derives them from the engine's reports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

Checkpoints = Sequence[int | tuple[int, int]]
"""lengths of a prompt, ascending; a pair: all whole pages from the first to the last"""


class Change(NamedTuple):
    """The length of a request's longest cached prefix from now on."""

    kind: Literal["stored", "evicted"]
    request_id: str
    cached_tokens: int
    """computed by full attention"""
    reused_tokens: int = 0
    """prompt tokens reused at another position and not recomputed"""
    recomputed_tokens: int = 0
    """prompt tokens that were reusable but were recomputed anyway"""
    checkpoints: Checkpoints | None = None
    """the only lengths that other requests find, if layers with windows or states keep no others; None: as before"""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The engine's cache is empty."""


CLEARED: Final = Cleared()


def stored(
    request_id: str, cached_tokens: int, reused_tokens: int = 0, recomputed_tokens: int = 0,
    checkpoints: Checkpoints | None = None,
) -> Change:  # fmt: skip
    """Returns a change: the request was computed, or computed further, and `cached_tokens` of it are cached now."""
    return Change("stored", request_id, cached_tokens, reused_tokens, recomputed_tokens, checkpoints)


def evicted(request_id: str, cached_tokens: int, checkpoints: Checkpoints | None = None) -> Change:
    """Returns a change: only `cached_tokens` of the request are still cached, or fewer checkpoints of it."""
    return Change("evicted", request_id, cached_tokens, checkpoints=checkpoints)


class Translator:
    """Turns an engine's reports into changes, on the sender's thread. This one takes reports that are changes."""

    def translate(self, report: Any) -> Iterable[Change | Cleared]:
        """Returns the changes that a report implies for requests, in order."""
        return report

    def forget(self, request_id: str) -> None:
        """Stops tracking a request, because there are too many."""

    def forget_all(self) -> None:
        """Forgets everything learned from reports, because some were lost."""
