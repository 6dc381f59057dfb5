"""What the receiver should believe, and which changes still have to be sent to it."""

import json
from collections.abc import Iterator
from typing import Any

from reprise_callbacks.changes import Change, Checkpoints

# `{"request_id":…,"cached_tokens":1234567},` without the id itself
_BYTES_BESIDE_ID = 50
# `,"checkpoints":[[1234567,1234567],…]`
_BYTES_PER_CHECKPOINT = 34


class CachedRequests:
    """Every request with a cached prefix and its length, bounded by the size of a snapshot of them all."""

    def __init__(self, maximum_bytes: int) -> None:
        self._maximum_bytes = maximum_bytes
        self._bytes = 0
        self._lengths: dict[str, int] = {}
        self._checkpoints: dict[str, Checkpoints] = {}
        self._untold: dict[str, Change] = {}

    @property
    def untold(self) -> int:
        """How many requests have changes that were not sent to the receiver yet."""
        return len(self._untold)

    def __len__(self) -> int:
        return len(self._lengths)

    def apply(self, change: Change) -> list[str]:
        """Applies a change. Returns the requests forgotten to make room for it: those told of longest ago."""
        kind, request_id, cached_tokens = change[:3]
        checkpoints = change.checkpoints
        # what is told last of a shared prefix holds for all who share it, so only news of it move a request back
        if checkpoints is None:
            before = self._untold.get(request_id)
            change = change._replace(checkpoints=before and before.checkpoints)
        else:
            self._untold.pop(request_id, None)
        self._untold[request_id] = change
        if cached_tokens <= 0:
            self._remove(request_id)
            return []
        if kind == "stored" or checkpoints is not None or request_id not in self._lengths:
            self._remove(request_id)
            self._bytes += _size(request_id)
        self._lengths[request_id] = cached_tokens
        if checkpoints is not None:
            self._checkpoints[request_id] = checkpoints
            self._bytes += _BYTES_PER_CHECKPOINT * len(checkpoints)
        return self._make_room()

    def clear(self) -> None:
        """Forgets all requests and all unsent changes."""
        self._lengths.clear()
        self._checkpoints.clear()
        self._untold.clear()
        self._bytes = 0

    def take_untold(self, most: int) -> list[dict[str, Any]]:
        """Returns up to `most` unsent changes as protocol events; of several for one request, only the last."""
        if len(self._untold) <= most:
            changes = list(self._untold.values())
            self._untold.clear()
        else:
            first = [request_id for request_id, _ in zip(self._untold, range(most), strict=False)]
            changes = [self._untold.pop(request_id) for request_id in first]
        return [_to_event(change) for change in changes]

    def drop_untold(self) -> None:
        """Drops the unsent changes, because a snapshot will carry everything."""
        self._untold.clear()

    def take_snapshot(self) -> Iterator[dict[str, Any]]:
        """
        Yields every request, for a snapshot, which also covers the unsent changes.

        Do not apply changes until all of it has been read.
        """
        self._untold.clear()
        for request_id, cached_tokens in self._lengths.items():
            checkpoints = self._checkpoints.get(request_id)
            told = {} if checkpoints is None else {"checkpoints": list(checkpoints)}
            yield {"request_id": request_id, "cached_tokens": cached_tokens, **told}

    def _remove(self, request_id: str) -> None:
        if self._lengths.pop(request_id, None) is not None:
            self._bytes -= _size(request_id) + _BYTES_PER_CHECKPOINT * len(self._checkpoints.pop(request_id, ()))

    def _make_room(self) -> list[str]:
        # a forgotten request counts as not cached, which never over-estimates
        forgotten = []
        while self._bytes > self._maximum_bytes:
            request_id = next(iter(self._lengths))
            self._remove(request_id)
            self._untold[request_id] = Change("evicted", request_id, 0)
            forgotten.append(request_id)
        return forgotten


def _size(request_id: str) -> int:
    return len(json.dumps(request_id)) + _BYTES_BESIDE_ID


def _to_event(change: Change) -> dict[str, Any]:
    kind, request_id, cached_tokens, reused_tokens, recomputed_tokens, checkpoints = change
    event = {"type": kind, "request_id": request_id, "cached_tokens": cached_tokens}
    if checkpoints is not None:
        event["checkpoints"] = list(checkpoints)
    if kind == "evicted":
        event["tier"] = "gpu"
    elif reused_tokens or recomputed_tokens:
        event |= {"reused_tokens": reused_tokens, "recomputed_tokens": recomputed_tokens}
    return event
