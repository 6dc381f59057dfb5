"""Calls of a store in the background, which are answered in time whatever the store does."""

import math
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from logging import Logger
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Count = Callable[[str, float, str], None]
"""kind, how many or how long, what: counts calls that have failed or were late, and seconds in which some were made"""
_MOST_FAULTS = 3
"""in a row, after which a store is left alone"""
_PAUSE = 30.0
"""seconds for which it is left alone"""
_LEAST_PATIENCE = 0.05
"""seconds after which a call is late, at the least"""
_MOST_PATIENCE = 10.0
_THREADS = 4
_MOST_WAITING = 256


class Breaker:
    """Says whether a store may be waited for. Leaves it alone for a while if it has failed several times in a row."""

    def __init__(self, logger: Logger, use: str) -> None:
        """use: what is not done with the store meanwhile, for the log"""
        self._logger, self._use = logger, use
        self._faults = 0
        self._failed_at = -math.inf

    @property
    def has_failed(self) -> bool:
        """Whether no call has succeeded since the last fault: nobody waits for the store until one has."""
        return self._faults > 0

    @property
    def is_open(self) -> bool:
        """Whether the store is left alone now. After a pause, a single fault opens it again."""
        return self._faults >= _MOST_FAULTS and time.monotonic() < self._failed_at + _PAUSE

    def failed(self, why: object, begun: float) -> None:
        """A call has failed, or is late. Together with those begun before it ended, it is one fault."""
        if begun < self._failed_at:
            return
        self._faults += 1
        self._failed_at = time.monotonic()
        if self._faults == _MOST_FAULTS:
            self._logger.error("reprise: the remote store is not %s until it answers again: %s", self._use, why)

    def succeeded(self) -> None:
        """A call was answered, late or not."""
        # at once: several threads may come back together
        faults, self._faults = self._faults, 0
        if faults >= _MOST_FAULTS:
            self._logger.warning("reprise: the remote store answers again")


@dataclass(slots=True)
class _Call(Generic[Asked, Answer]):
    asked: Asked
    begun: float
    until: float
    """when it is late"""
    silence: float
    is_waited_for: bool = True
    answer: list[Answer | Exception | None] = field(default_factory=list)
    """empty until it comes"""


class StoreCalls(Generic[Asked, Answer]):
    """
    Each call is answered with its result, or with None if it fails, is no longer waited for, or many wait.

    Nobody waits for a store that is silent for longer than a call allows, nor for one that has failed and not answered
    since. Calls go on in the background: their answers show that the store is back.
    """

    def __init__(self, call: Callable[[Asked], Answer], breaker: Breaker, kind: str, count: Count) -> None:
        self._call, self._breaker, self._kind, self._count = call, breaker, kind, count
        self._waiting: queue.Queue[_Call[Asked, Answer]] = queue.Queue(_MOST_WAITING)
        self._open: list[_Call[Asked, Answer]] = []
        self._answered_at = -math.inf
        # since when at least one call is under way, or the last that has ended
        self._busy_since, self._calling = 0.0, 0
        self._lock = threading.Lock()
        # a store that hangs must not keep the process from ending
        for number in range(_THREADS):
            threading.Thread(target=self._work, name=f"reprise-remote-{kind}-{number}", daemon=True).start()

    def start(self, asked: Asked, seconds: float, silence: float) -> None:
        """Begins a call; `take` returns what came of it.

        seconds  what it may take, within limits; then it is a fault
        silence  how long the store may answer no call at all
        """
        now = time.monotonic()
        until = now + min(max(seconds, _LEAST_PATIENCE), _MOST_PATIENCE)
        self._open.append(call := _Call(asked, now, until, silence))
        try:
            if self._breaker.is_open:
                raise queue.Full
            self._waiting.put_nowait(call)
        except queue.Full:
            call.answer.append(None)

    def take(self) -> list[tuple[Asked, Answer | None]]:
        """Returns the calls that were answered or given up since the last call of this method."""
        opened, self._open = self._open, []
        ended = []
        for call in opened:
            # looked at once, since it may come at any time
            came, now = call.answer[:1], time.monotonic()
            is_over = bool(came) or now >= call.until
            if is_over and (not came or isinstance(came[0], Exception)):
                self._count("failed", 1, "remote")
                self._breaker.failed(came[0] if came else "it takes too long", call.begun)
                came = [None]
            is_silent = now >= max(call.begun, self._answered_at) + call.silence
            if call.is_waited_for and (is_over or is_silent or self._breaker.has_failed):
                call.is_waited_for = False
                ended.append((call.asked, came[0] if came else None))
            if not is_over:
                self._open.append(call)
        return ended

    def _work(self) -> None:
        while True:
            call = self._waiting.get()
            if time.monotonic() > call.until:
                continue
            self._begin()
            try:
                came = self._call(call.asked)
                self._answered_at = time.monotonic()
                self._breaker.succeeded()
            except Exception as error:
                came = error
            self._end()
            call.answer.append(came)

    def _begin(self) -> None:
        with self._lock:
            if not self._calling:
                self._busy_since = time.monotonic()
            self._calling += 1

    def _end(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._count(self._kind, now - self._busy_since, "remote_seconds")
            self._busy_since = now
            self._calling -= 1
