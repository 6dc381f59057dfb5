"""Calls of a store in the background, which are answered in time whatever the store does."""

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


class Breaker:
    """Leaves a store alone for a while that has failed several times in a row, and logs it once."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._faults = 0
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the store is left alone now. After a pause, a single fault opens it again."""
        return self._faults >= _MOST_FAULTS and time.monotonic() < self._until

    def failed(self, why: object) -> None:
        """A call has failed, or took too long."""
        self._faults += 1
        self._until = time.monotonic() + _PAUSE
        if self._faults == _MOST_FAULTS:
            self._logger.error("reprise: the remote store is left alone until it answers again: %s", why)

    def succeeded(self) -> None:
        """A call was answered in time."""
        if self._faults >= _MOST_FAULTS:
            self._logger.warning("reprise: the remote store answers again")
        self._faults = 0


class StoreCalls(Generic[Asked, Answer]):
    """Each call is answered with its result, or with None as soon as it fails, or takes longer than it may."""

    def __init__(self, call: Callable[[Asked], Answer], breaker: Breaker, name: str) -> None:
        self._call, self._breaker = call, breaker
        self._waiting: queue.SimpleQueue[tuple[Asked, float, list[Answer | Exception | None]]] = queue.SimpleQueue()
        # what was asked, until when, and where its answer will be
        self._open: list[tuple[Asked, float, list[Answer | Exception | None]]] = []
        self.faults = 0
        # a store that hangs must not keep the process from ending
        for number in range(_THREADS):
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True).start()

    def start(self, asked: Asked, seconds: float) -> None:
        """Begins a call; `take` returns what came of it."""
        until = time.monotonic() + min(max(seconds, _LEAST_PATIENCE), _MOST_PATIENCE)
        one = (asked, until, [None] if self._breaker.is_open else [])
        if not self._breaker.is_open:
            self._waiting.put(one)
        self._open.append(one)

    def take(self) -> list[tuple[Asked, Answer | None]]:
        """Returns the calls that have ended since the last call of this method."""
        opened, self._open = self._open, []
        ended = []
        for asked, until, answer in opened:
            # looked at once, since it may come at any time
            came = answer[:1]
            if not came and time.monotonic() < until:
                self._open.append((asked, until, answer))
                continue
            if not came or isinstance(came[0], Exception):
                self.faults += 1
                self._breaker.failed(came[0] if came else "it takes too long")
                came = [None]
            elif came[0] is not None:
                self._breaker.succeeded()
            ended.append((asked, came[0]))
        return ended

    def _work(self) -> None:
        while True:
            asked, until, answer = self._waiting.get()
            if time.monotonic() > until:
                continue
            try:
                answer.append(self._call(asked))
            except Exception as error:
                answer.append(error)
