"""Parts of a corpus that several workers share, each with an engine of its own."""

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from reprise_reuse.preprocess.prompts import FailedError, Prompt
from reprise_reuse.stores.store import Store

_DONE = b"done"
_LEASE_SECONDS = 600.0
"""after which a worker that was not heard of has ended; hosts' clocks may differ by less"""
_PAUSE_SECONDS = 5.0


class Leases:
    """
    Has each part computed by one worker; by another one, if that one was not heard of for a while.

    Two that take the same part within milliseconds may both compute it, which costs time alone.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep,
        waits: Callable[[int, float], None] = lambda parts, until: None,
    ) -> None:  # fmt: skip
        """waits: called when nothing but parts of others is left: with their number, and when the first lease ends"""
        self._store, self._clock, self._sleep, self._waits = store, clock, sleep, waits
        self.done_before = 0
        """parts that were done, by whomever, when they were looked at"""
        self._worker = uuid.uuid4().hex
        self._held: tuple[str, float] | None = None

    def share(self, parts: Sequence[Sequence[Prompt]], key: Sequence[str]) -> Iterator[Sequence[Prompt]]:
        """Yields the parts that are this worker's to compute, until all are computed, and waits for those of others.

        key  identifies for whom they are computed
        """
        left = {_name_of(part, key): part for part in parts}
        is_told = False
        while left:
            ends = []
            was = len(left)
            for name in list(left):
                state = self._read(name)
                if state == _DONE:
                    del left[name]
                    self.done_before += 1
                elif (end := _end_of(state)) < self._clock() and self._take(name):
                    yield left.pop(name)
                    self._held = None
                    self._write(name, _DONE)
                else:
                    ends.append(max(end, self._clock()))
            if len(left) == was:
                if not is_told:
                    self._waits(len(left), min(ends))
                is_told = True
                self._sleep(_PAUSE_SECONDS)

    def renew(self) -> None:
        """The part that was yielded last is still being computed."""
        if self._held is not None and self._clock() > self._held[1] - _LEASE_SECONDS / 2:
            self._take(self._held[0])

    def release(self) -> None:
        """Leaves the part that was yielded last, and was not computed to its end, to others."""
        if self._held is not None:
            self._write(self._held[0], b"null")

    def _take(self, name: str) -> bool:
        until = self._clock() + _LEASE_SECONDS
        self._write(name, lease := json.dumps([self._worker, until]).encode())
        is_taken = self._read(name) == lease
        self._held = (name, until) if is_taken else None
        return is_taken

    def _read(self, name: str) -> bytes:
        with _named():
            return bytes(self._store.get([name])[0] or b"null")

    def _write(self, name: str, value: bytes) -> None:
        with _named():
            self._store.put(name, value)


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise FailedError(f"--share: {error}") from error


def _end_of(state: bytes) -> float:
    """Returns when a lease ends; in the past if there is none."""
    try:
        return float(json.loads(state)[1])
    except (ValueError, TypeError, LookupError):
        return 0.0


def _name_of(part: Sequence[Prompt], key: Sequence[str]) -> str:
    told = repr((tuple(key), [(prompt.before, prompt.kept) for prompt in part]))
    return hashlib.blake2b(told.encode(), digest_size=20).hexdigest()
