"""Segments in a shared store: found by what they hold, checked when read, written once."""

import hashlib
import math
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from logging import Logger
from typing import TypeVar

import numpy as np

from reprise_reuse.disk.messages import DiskFile, Lookup, RemoteFile, ReuseReport
from reprise_reuse.disk.segment_file import MOST_BYTES, SegmentFiles, State, size_of, why_unused
from reprise_reuse.prompts.users import PREPROCESSED
from reprise_reuse.remote.store_calls import Breaker, StoreCalls
from reprise_reuse.segments import Grams
from reprise_reuse.stores.store import Store

SPARSE = 48
"""of this many consecutive grams, at least one is looked up: of any 63 tokens"""
_PUBLISHED = 4
"""anchors by which a segment is found"""
_RETRIED_SECONDS = 1.0
"""after which a store is tried again that could not be reached at the start"""
_MOST_NOTED = 100_000
"""keys, beyond which all are forgotten: then some are asked for again"""
_ABSENT_SECONDS = 60
"""for which an anchor that was not found is not looked up again"""

Unpacked = TypeVar("Unpacked")
Head = tuple[bytes, DiskFile, np.ndarray]
"""an audience, and a segment that it finds, with its tokens"""


class RemoteTier:
    """
    The rows of each segment under a key made of the model, of who may use them, and of the segment's tokens.

    A few of the segment's anchors lead to its description, under keys made in the same way: a prompt that has the text
    has the anchors, so nothing else says what is stored. Engines that store the same text agree on the keys, and the
    first one writes. A value that is damaged or another segment's is refused, logged, and written anew by the engine
    that refused it. Nothing here waits for the store.
    """

    def __init__(self, store: Store, fingerprint: Callable[[], str], logger: Logger, *, finds: bool = True) -> None:
        """
        fingerprint  identifies the model with its current weights, its set-up and the rank
        finds        whether this rank looks segments up: one does for all
        """
        self._store, self._fingerprint, self._logger = store, fingerprint, logger
        self.renew()
        self._lock = threading.Lock()
        self._figures: Counter[tuple[str, str]] = Counter()
        # lookups may succeed where the machine that has the rows is gone
        self._finding, self._writing = Breaker(logger, "searched"), Breaker(logger, "written to")
        self._finding.failed("it has not answered yet", time.monotonic())
        self._reads = StoreCalls(self._read, Breaker(logger, "read"), "read", self._count)
        self._lookups = StoreCalls(self._find, self._finding, "lookup", self._count) if finds else None
        self._waiting: queue.SimpleQueue[tuple[SegmentFiles, RemoteFile, State]] = queue.SimpleQueue()
        self._waiting_bytes = 0
        self._unwritten: set[int] = set()
        # keys without values, and keys whose values are missing or were refused, with when that was found
        self._absent: dict[str, float] = {}
        self._outdated: dict[str, float] = {}
        threading.Thread(target=self._write_on, name="reprise-remote-write", daemon=True).start()

    def renew(self) -> None:
        """The model may have got other weights: computes its fingerprint again, and with it all keys."""
        # without it, nothing has a key: rows of other weights must not get those of the earlier ones
        self._files: SegmentFiles | None = None
        self._files = SegmentFiles(self._fingerprint())

    def write(self, file: RemoteFile, state: State) -> None:
        """Queues a segment for writing."""
        with self._lock:
            self._waiting_bytes += size_of(state)
        self._waiting.put((self._files, file, state))

    def has_room(self, file: RemoteFile) -> bool:
        """Whether a segment can be queued; if too much is queued, or the store fails, it is counted as not written."""
        if self._waiting_bytes < MOST_BYTES and not self._writing.is_open:
            return True
        self._note_unwritten(file)
        return False

    def start_read(self, file: RemoteFile) -> None:
        """Starts to read a segment; `take_read` returns it."""
        self._reads.start(file, file.seconds, file.silence)

    def take_read(self) -> list[tuple[RemoteFile, State | None]]:
        """Returns what was read since the last call; None for what is missing, not used, or took too long."""
        return self._reads.take()

    def look_up(self, lookup: Lookup) -> None:
        """Starts to look up segments, if this rank does; `take_found` returns them."""
        if self._lookups:
            self._lookups.start(lookup, lookup.seconds, lookup.silence)

    def take_found(self) -> list[tuple[str, list[Head] | None]]:
        """Returns what was found since the last call, by request; None for lookups that failed or took too long."""
        return [(lookup.request, found) for lookup, found in (self._lookups.take() if self._lookups else ())]

    def report(self, report: ReuseReport) -> None:
        """Adds what was counted since the last call (`remote`, `remote_bytes`, `remote_seconds`), and not written."""
        with self._lock:
            report.figures.update(self._figures)
            report.unshared |= self._unwritten
            self._figures, self._unwritten = Counter(), set()

    def close(self) -> None:
        """Leaves unwritten what is queued: others have computed it, or will."""
        self._store.close()

    def _find(self, lookup: Lookup) -> list[Head]:
        files, now = self._files, time.monotonic()
        if files is None:
            return []
        audiences = {
            _key(files, lookup.namespace, audience, gram): audience
            for audience in lookup.audiences
            for gram in lookup.grams
        }
        with self._lock:
            keys = [key for key in audiences if self._absent.get(key, -math.inf) < now - _ABSENT_SECONDS]
        if not keys:
            return []
        values = self._store.get(keys)
        self._count("looked_up")
        self._count("keys", len(keys))
        found: dict[bytes, Head] = {}
        for key, value in zip(keys, values, strict=True):
            if value is None:
                self._note(key, now, self._absent)
                continue
            head = self._checked(key, lambda value=value: files.unpack_head(value, lookup.namespace))
            if head is not None:
                found.setdefault(head[0].tokens_digest, (audiences[key], *head))
        self._count("found", len(found))
        return list(found.values())

    def _read(self, file: RemoteFile) -> State | None:
        files = self._files
        key = _rows_key(files, file)
        (value,) = self._store.get([key])
        if value is None:
            self._count("missing")
            self._note(key, time.monotonic(), self._outdated)
            return None
        state = self._checked(key, lambda: files.unpack(value, file))
        if state is not None:
            self._count("read")
        self._count("read", len(value), "remote_bytes")
        return state

    def _write_on(self) -> None:
        self._connect()
        while True:
            files, file, state = self._waiting.get()
            begun = time.monotonic()
            try:
                self._write(files, file, state)
                self._writing.succeeded()
            except Exception as error:
                self._writing.failed(error, begun)
                self._note_unwritten(file)
            with self._lock:
                self._waiting_bytes -= size_of(state)

    def _connect(self) -> None:
        """Asks the store for values that there are not until it answers: before that, no request waits for it."""
        keys = [f"{number:040}" for number in range(64)]
        while self._finding.has_failed:
            begun = time.monotonic()
            try:
                # connecting is no part of what a lookup takes
                self._store.get(keys[:1])
                begun = time.monotonic()
                self._store.get(keys)
                self._count("lookup", time.monotonic() - begun, "remote_seconds")
                self._count("keys", len(keys))
                self._finding.succeeded()
                self._writing.succeeded()
            except Exception as error:
                self._count("failed")
                self._finding.failed(error, begun)
                self._writing.failed(error, begun)
                time.sleep(_RETRIED_SECONDS)

    def _write(self, files: SegmentFiles, file: RemoteFile, state: State) -> None:
        tokens = state["tokens"].numpy()
        grams = np.sort(Grams(tokens, SPARSE).anchors(0, len(tokens))[1])[:_PUBLISHED]
        key, heads = _rows_key(files, file), [_key(files, file.namespace, file.audience, gram) for gram in grams]
        if self._outdated.keys().isdisjoint([key, *heads]) and self._is_known(files, heads, file):
            self._count("known")
            return
        value, head = files.pack(file, state), files.pack(file, {"tokens": state["tokens"]})
        # the rows first: who finds the description reads them
        self._store.put(key, value)
        for one in heads:
            self._store.put(one, head)
        with self._lock:
            for one in (key, *heads):
                self._outdated.pop(one, None)
                self._absent.pop(one, None)
        self._count("written")
        self._count("written", len(value), "remote_bytes")

    def _is_known(self, files: SegmentFiles, heads: Sequence[str], file: RemoteFile) -> bool:
        """Whether these tokens are stored, and what preprocessing has now would be no better."""
        for key, value in zip(heads, self._store.get(heads), strict=True):
            unpack = partial(files.unpack_head, value, file.namespace)
            known = None if value is None else self._checked(key, unpack)
            if known is not None and known[0].tokens_digest == file.tokens_digest:
                is_as_good = PREPROCESSED in known[0].users and len(known[0].prefixes) >= len(file.prefixes)
                return is_as_good or PREPROCESSED not in file.users
        return False

    def _checked(self, key: str, unpack: Callable[[], Unpacked]) -> Unpacked | None:
        """Returns what a value holds; None, after logging why, if it is not used."""
        try:
            return unpack()
        except Exception as error:
            self._logger.warning("reprise: %s in the remote store %s and is not used", key, why_unused(error))
            self._count("refused")
            self._note(key, time.monotonic(), self._outdated)
            return None

    def _note(self, key: str, now: float, noted: dict[str, float]) -> None:
        with self._lock:
            if len(noted) >= _MOST_NOTED:
                noted.clear()
            noted[key] = now

    def _note_unwritten(self, file: RemoteFile) -> None:
        self._count("unwritten")
        with self._lock:
            self._unwritten.add(file.name)

    def _count(self, kind: str, count: float = 1, what: str = "remote") -> None:
        with self._lock:
            self._figures[what, kind] += count


def _rows_key(files: SegmentFiles, file: RemoteFile) -> str:
    return _key(files, file.namespace, file.audience, file.tokens_digest)


def _key(files: SegmentFiles, namespace: bytes, audience: bytes, what: bytes | np.uint64) -> str:
    """Returns a key that tells nothing about what it is made of."""
    name = what if isinstance(what, bytes) else what.tobytes()
    parts = (files.fingerprint.encode(), namespace, audience, name)
    return hashlib.blake2b(b"".join(len(one).to_bytes(4, "little") + one for one in parts), digest_size=20).hexdigest()
