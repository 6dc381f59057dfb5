"""Calls of a store in the background, which are answered in time whatever the store does."""

import math
import queue
import threading
import time
from collections.abc import Callable
from logging import Logger
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
_MOST_FAULTS = 3
"""in a row, after which a store is left alone"""
_PAUSE = 30.0
"""seconds for which it is left alone"""
_LEAST_PATIENCE = 0.05
_MOST_PATIENCE = 10.0
_THREADS = 4
_MOST_WAITING = 256


class Breaker:
    """Leaves a store alone for a while that has failed several times in a row, and logs it once."""

    def __init__(self, logger: Logger, use: str) -> None:
        """use: what is not done with the store meanwhile, for the log"""
        self._logger, self._use = logger, use
        self._faults = 0
        self._failed_at = -math.inf

    @property
    def has_failed(self) -> bool:
        """Whether the store is left alone or tried again."""
        return self._faults >= _MOST_FAULTS

    @property
    def is_open(self) -> bool:
        """Whether the store is left alone now. After a pause, a single fault opens it again."""
        return self.has_failed and time.monotonic() < self._failed_at + _PAUSE

    def failed(self, why: object, begun: float) -> None:
        """A call has failed, or took too long. Together with those begun before it ended, it is one fault."""
        if begun < self._failed_at:
            return
        self._faults += 1
        self._failed_at = time.monotonic()
        if self._faults == _MOST_FAULTS:
            self._logger.error("reprise: the remote store is not %s until it answers again: %s", self._use, why)

    def succeeded(self) -> None:
        """A call was answered in time."""
        if self.has_failed:
            self._logger.warning("reprise: the remote store answers again")
        self._faults = 0


class StoreCalls(Generic[Asked, Answer]):
    """Each call is answered with its result, or with None if it fails, takes longer than it may, or many wait."""

    def __init__(self, call: Callable[[Asked], Answer], breaker: Breaker, name: str) -> None:
        self._call, self._breaker = call, breaker
        self._waiting: queue.Queue[tuple[Asked, float, list[Answer | Exception | None]]] = queue.Queue(_MOST_WAITING)
        # what was asked, since and until when, and where its answer will be
        self._open: list[tuple[Asked, float, float, list[Answer | Exception | None]]] = []
        self._faults = 0
        # how long at least one call was under way, as of the last that has ended
        self._busy, self._busy_since, self._calling = 0.0, 0.0, 0
        self._lock = threading.Lock()
        # a store that hangs must not keep the process from ending
        for number in range(_THREADS):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def start(self, asked: Asked, seconds: float) -> None:
        """Begins a call; `take` returns what came of it."""
        now = time.monotonic()
        patience = min(max(seconds, _LEAST_PATIENCE), _MOST_PATIENCE)
        # nobody waits for a store that is tried again: a late answer, too, shows that it is back
        waits = _LEAST_PATIENCE if self._breaker.has_failed else patience
        self._open.append((asked, now, now + waits, answer := []))
        try:
            if self._breaker.is_open:
                raise queue.Full
            self._waiting.put_nowait((asked, now + patience, answer))
        except queue.Full:
            answer.append(None)

    def take(self) -> list[tuple[Asked, Answer | None]]:
        """Returns the calls that have ended since the last call of this method."""
        opened, self._open = self._open, []
        ended = []
        for asked, begun, until, answer in opened:
            # looked at once, since it may come at any time
            came = answer[:1]
            if not came and time.monotonic() < until:
                self._open.append((asked, begun, until, answer))
                continue
            if not came or isinstance(came[0], Exception):
                self._faults += 1
                self._breaker.failed(came[0] if came else "it takes too long", begun)
                came = [None]
            ended.append((asked, came[0]))
        return ended

    def take_figures(self) -> tuple[int, float]:
        """Returns how many calls have failed or were late since the last call of this method, and the seconds taken."""
        with self._lock:
            (faults, self._faults), (seconds, self._busy) = (self._faults, 0), (self._busy, 0.0)
        return faults, seconds

    def _work(self) -> None:
        while True:
            asked, until, answer = self._waiting.get()
            if time.monotonic() > until:
                continue
            self._begin()
            try:
                came = self._call(asked)
                if time.monotonic() <= until:
                    self._breaker.succeeded()
            except Exception as error:
                came = error
            self._end()
            answer.append(came)

    def _begin(self) -> None:
        with self._lock:
            if not self._calling:
                self._busy_since = time.monotonic()
            self._calling += 1

    def _end(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._busy += now - self._busy_since
            self._busy_since = now
            self._calling -= 1
