"""Reports an engine's cache to reprise on a separate thread, using the eviction callback protocol."""

import math
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reprise_callbacks.cached_requests import CachedRequests
from reprise_callbacks.callback_client import CallbackClient, clean_setting, encode_body, without_credentials
from reprise_callbacks.changes import CLEARED, Cleared, Translator
from reprise_callbacks.report_queue import ReportQueue

_OK = 200
_CONFLICT = 409
_IDLE_AFTER = 1.0


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """How much memory and time the sender may use."""

    queued_facts: int = 200_000
    """facts in reports the sender has not read yet; beyond this it forgets everything and starts over"""
    untold_changes: int = 20_000
    """beyond this the receiver is cleared and sent a snapshot"""
    snapshot_bytes: int = 6 << 20
    """receivers refuse bodies above 8 MiB; beyond this the requests stored longest ago are forgotten"""
    events_per_post: int = 1000
    gap: float = 0.02
    """seconds between two checks for reports and between two posts: a post costs the interpreter 0.3 ms"""
    idle_gap: float = 0.1
    """seconds between two checks after a second without a report"""
    heartbeat: float = 2.0
    """seconds after which an empty batch is posted, so that a restarted receiver is noticed even when idle"""
    answer_timeout: float = 3.0
    first_pause: float = 0.1
    longest_pause: float = 2.0
    """seconds between attempts while posts fail, at most"""


class CallbackSender:
    """Sends the engine's reports to one replica's mirror. The engine's thread never waits and never sees a fault."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        translator: Translator | None = None,
        limits: SenderLimits | None = None,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._limits = limits or SenderLimits()
        self._url = without_credentials(clean_setting(url))
        self._client = CallbackClient(url, token, self._limits.answer_timeout)
        self._translator = translator or Translator()
        self._warn = warn
        self._queue = ReportQueue(self._limits.queued_facts)
        self._requests = CachedRequests(self._limits.snapshot_bytes)
        self._generation = uuid.uuid4().hex
        self._facts: dict[str, Any] = {}
        self._sequence = -1
        self._must_clear = False
        self._needs_snapshot = True
        self._failures: set[str] = set()
        """why posts have failed since the last that did not"""
        self._pause = self._limits.first_pause
        self._next_post = 0.0
        self._last_report = 0.0
        self._closing = math.inf
        self._close = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reprise-callbacks", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL it posts to, without credentials, so that it may be logged."""
        return self._url

    def report(self, report: Any, facts: int = 1) -> None:
        """Queues what one engine step changed: about `facts` facts. Takes constant time and never throws."""
        self._queue.put(report, facts)

    def describe(self, facts: dict[str, Any]) -> None:
        """Sets the facts about the engine that snapshots carry in addition to its requests, and sends a snapshot."""
        self._facts = facts
        # a snapshot being built right now either sees these facts or is followed by another
        self._needs_snapshot = True

    def cleared(self) -> None:
        """Reports that the engine has emptied its cache."""
        self._queue.put((CLEARED,), 1)

    def close(self, seconds: float = 1.0, *, wait: bool = True) -> None:
        """Posts what is left, for at most `seconds`, and stops."""
        self._closing = time.monotonic() + seconds
        self._close.set()
        if wait:
            self._thread.join(seconds)

    def _run(self) -> None:
        is_drained = False
        while not is_drained and time.monotonic() < self._closing:
            # only a turn that began after `close` has surely read everything reported before it
            is_last = self._close.is_set()
            try:
                self._turn()
            except Exception as error:
                self._forget()
                # only the error's type: its text may quote what was sent, including the token
                self._note_outcome(f"a post failed ({type(error).__name__})")
                self._next_post = time.monotonic() + self._limits.longest_pause
            is_drained = is_last and not self._anything_untold()
        self._client.close()

    def _turn(self) -> None:
        """Reads all queued reports and posts what is due."""
        self._rest()
        while (report := self._queue.take()) is not None:
            self._last_report = time.monotonic()
            self._read(report)
        if self._queue.take_overflow():
            self._start_over("reports came faster than they could be read")
        if self._requests.untold > self._limits.untold_changes:
            # a snapshot that is already due makes `cleared` unnecessary
            self._must_clear = self._must_clear or not self._needs_snapshot
            self._needs_snapshot = True
            self._requests.drop_untold()
        now = time.monotonic()
        if now >= self._next_post and (self._anything_untold() or now >= self._next_post + self._limits.heartbeat):
            self._post()

    def _read(self, report: Any) -> None:
        try:
            for change in self._translator.translate(report):
                if isinstance(change, Cleared):
                    self._requests.clear()
                    self._must_clear = True
                    continue
                for request_id in self._requests.apply(change):
                    self._translator.forget(request_id)
        except Exception as error:
            # a fault in one report must not stop later ones
            self._start_over(f"a report could not be read ({error!r})")

    def _forget(self) -> None:
        self._translator.forget_all()
        self._requests.clear()
        self._must_clear = self._needs_snapshot = True

    def _start_over(self, reason: str) -> None:
        self._warn(f"{reason}; everything is told anew to {self._url}")
        self._forget()

    def _anything_untold(self) -> bool:
        return self._needs_snapshot or self._must_clear or self._requests.untold > 0

    def _rest(self) -> None:
        """Waits until the next check. The engine's thread wakes nobody, so this bounds how late a post may be."""
        now = time.monotonic()
        is_idle = now - self._last_report > _IDLE_AFTER
        due = now + (self._limits.idle_gap if is_idle else self._limits.gap)
        if self._anything_untold():
            due = min(due, self._next_post)
        seconds = due - now
        if not self._close.is_set():
            self._close.wait(max(0.0, seconds))
        else:
            time.sleep(max(0.0, min(seconds, self._closing - now, self._limits.gap)))

    def _post(self) -> None:
        status = self._exchange()
        if status == _OK:
            self._note_outcome(None)
            self._pause = self._limits.first_pause
            is_behind = self._requests.untold >= self._limits.events_per_post
            self._next_post = time.monotonic() + (0 if is_behind else self._limits.gap)
            return
        lost_place = status == _CONFLICT and not self._needs_snapshot
        # the receiver may or may not have applied the post: only a snapshot makes both sides agree again
        self._needs_snapshot = True
        self._must_clear = False
        if status == _CONFLICT:
            self._note_outcome(None)
        else:
            self._note_outcome(f"the answer is {status}" if status else "there is no answer")
        if lost_place:
            self._next_post = time.monotonic()
            return
        self._next_post = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, self._limits.longest_pause)

    def _exchange(self) -> int:
        """Posts a snapshot or events. Returns the answer's status, or 0 if there is none."""
        self._sequence += 1
        head = {"generation": self._generation, "sequence": self._sequence}
        if self._sequence == 0 or (self._needs_snapshot and not self._must_clear):
            self._needs_snapshot = self._must_clear = False
            body = encode_body(head | self._facts, "requests", self._requests.take_snapshot())
            return self._client.post("snapshot", body)
        events = [{"type": "cleared"}] if self._must_clear else []
        self._must_clear = False
        if not self._needs_snapshot:
            events += self._requests.take_untold(self._limits.events_per_post)
        return self._client.post("events", encode_body(head, "events", events))

    def _note_outcome(self, failure: str | None) -> None:
        """Logs a line if posts begin to fail, fail for another reason, or no longer do."""
        if failure is None:
            if self._failures:
                self._warn(f"reporting to {self._url} again")
            self._failures.clear()
        elif failure not in self._failures:
            self._failures.add(failure)
            self._warn(f"cannot report to {self._url}: {failure}; retrying")
