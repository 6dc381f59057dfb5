"""What an engine tells of its cache, and how it becomes the protocol's words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol


class Change(NamedTuple):
    """A request's longest prefix that is still cached, as it is from now on."""

    kind: Literal["stored", "evicted"]
    request_id: str
    cached_tokens: int
    """computed by full attention"""
    reused_tokens: int = 0
    """of the request's prompt: reused at another position and not computed again"""
    recomputed_tokens: int = 0
    """of the request's prompt: reusable, and computed again all the same"""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The engine holds nothing any more."""


CLEARED: Final = Cleared()


def stored(request_id: str, cached_tokens: int, reused_tokens: int = 0, recomputed_tokens: int = 0) -> Change:
    """So much of the request is cached now: it was computed, or computed further."""
    return Change("stored", request_id, cached_tokens, reused_tokens, recomputed_tokens)


def evicted(request_id: str, cached_tokens: int) -> Change:
    """Only so much of the request is still cached."""
    return Change("evicted", request_id, cached_tokens)


class Translator(Protocol):
    """Turns an engine's reports into changes; used on the sender's thread only."""

    def translate(self, report: Any) -> Iterable[Change | Cleared]:
        """What the report means for requests, in order."""
        ...

    def forget(self, request_id: str) -> None:
        """The request is no longer reported on: too many others are."""
        ...

    def forget_all(self) -> None:
        """Reports were lost: nothing that was learned from them holds."""
        ...


class RequestLengths:
    """The translator of engines whose reports are changes already."""

    def translate(self, report: Iterable[Change | Cleared]) -> Iterable[Change | Cleared]:
        return report

    def forget(self, request_id: str) -> None:
        pass

    def forget_all(self) -> None:
        pass
