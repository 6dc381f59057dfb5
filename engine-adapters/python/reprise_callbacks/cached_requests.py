"""What the receiver should believe, and which changes still have to be sent to it."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from reprise_callbacks.changes import Change

# `{"request_id":…,"cached_tokens":1234567},` without the id itself
_BYTES_BESIDE_ID = 50
# `,"checkpoints":[[1234567,1234567],…]`
_BYTES_PER_CHECKPOINT = 34


class CachedRequests:
    """Every request with a cached prefix and its length, bounded by the size of a snapshot of them all."""

    def __init__(self, maximum_bytes: int) -> None:
        self._maximum_bytes = maximum_bytes
        self._bytes = 0
        # by request, stored longest ago first
        self._known: dict[str, Change] = {}
        self._untold: dict[str, Change] = {}

    @property
    def untold(self) -> int:
        """How many requests have changes that were not sent to the receiver yet."""
        return len(self._untold)

    def __len__(self) -> int:
        return len(self._known)

    def apply(self, change: Change) -> list[str]:
        """Applies a change. Returns the requests forgotten to make room for it: those told of longest ago."""
        request_id, checkpoints = change.request_id, change.checkpoints
        # what is told last of a shared prefix holds for all who share it, so only news of it move a request back
        before = self._untold.get(request_id) if checkpoints is None else self._untold.pop(request_id, None)
        is_left = checkpoints is None and before is not None
        self._untold[request_id] = change._replace(checkpoints=before.checkpoints) if is_left else change
        known = self._known.get(request_id)
        if change.cached_tokens > 0 and change.kind == "evicted" and checkpoints is None and known is not None:
            self._known[request_id] = known._replace(cached_tokens=change.cached_tokens)
            return []
        self._remove(request_id)
        if change.cached_tokens > 0:
            self._known[request_id] = change
            self._bytes += _size(change)
        return self._make_room()

    def clear(self) -> None:
        """Forgets all requests and all unsent changes."""
        self._known.clear()
        self._untold.clear()
        self._bytes = 0

    def take_untold(self, most: int) -> list[dict[str, Any]]:
        """Returns up to `most` unsent changes as protocol events; of several for one request, only the last."""
        return [_to_event(self._untold.pop(request_id)) for request_id in [*islice(self._untold, most)]]

    def drop_untold(self) -> None:
        """Drops the unsent changes, because a snapshot will carry everything."""
        self._untold.clear()

    def take_snapshot(self) -> Iterator[dict[str, Any]]:
        """
        Yields every request, for a snapshot, which also covers the unsent changes.

        Do not apply changes until all of it has been read.
        """
        self._untold.clear()
        return map(_to_member, self._known.values())

    def _remove(self, request_id: str) -> None:
        known = self._known.pop(request_id, None)
        self._bytes -= 0 if known is None else _size(known)

    def _make_room(self) -> list[str]:
        # a forgotten request counts as not cached, which never over-estimates
        forgotten = []
        while self._bytes > self._maximum_bytes:
            request_id = next(iter(self._known))
            self._remove(request_id)
            self._untold[request_id] = Change("evicted", request_id, 0)
            forgotten.append(request_id)
        return forgotten


def _size(change: Change) -> int:
    return len(json.dumps(change.request_id)) + _BYTES_BESIDE_ID + _BYTES_PER_CHECKPOINT * len(change.checkpoints or ())


def _to_member(change: Change) -> dict[str, Any]:
    member = {"request_id": change.request_id, "cached_tokens": change.cached_tokens}
    return member if change.checkpoints is None else member | {"checkpoints": list(change.checkpoints)}


def _to_event(change: Change) -> dict[str, Any]:
    event = {"type": change.kind} | _to_member(change)
    if change.kind == "evicted":
        event["tier"] = "gpu"
    elif change.reused_tokens or change.recomputed_tokens:
        event |= {"reused_tokens": change.reused_tokens, "recomputed_tokens": change.recomputed_tokens}
    return event
