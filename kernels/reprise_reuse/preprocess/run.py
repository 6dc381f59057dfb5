"""Has prompts of documents computed, records which are done, and shares them among workers."""

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from reprise_reuse.preprocess.engine import RefusedError
from reprise_reuse.preprocess.prompts import FailedError, Prompt, UnusableError
from reprise_reuse.stores.store import Store


class Done:
    """
    The prompts an engine has computed. Kept in a file with one digest per line, so that a later run can continue.

    One file may cover several engines; each has its own entries.
    """

    def __init__(self, path: Path, key: Sequence[str] = ()) -> None:
        """key: identifies the engine, and anything else that determines where it finds what it has computed"""
        self._path = path
        self._key = repr(tuple(key)).encode()
        self._digests: dict[str, None] = {}
        try:
            # opened now, so that a failure shows before the first prompt, not after it
            with path.open("a+") as lines:
                lines.seek(0)
                self._digests = dict.fromkeys(lines.read().split())
        except (OSError, UnicodeDecodeError) as error:
            raise UnusableError(f"--state {path}: {error}") from error

    def holds(self, prompt: Prompt) -> bool:
        """Whether this prompt has been computed."""
        return self._digest(prompt) in self._digests

    def add(self, prompt: Prompt) -> None:
        """Records that this prompt has been computed."""
        self._digests[self._digest(prompt)] = None
        self._write("a", [self._digest(prompt)])

    def forget(self, prompts: Iterable[Prompt]) -> None:
        """Makes these prompts count as not computed."""
        for prompt in prompts:
            self._digests.pop(self._digest(prompt), None)
        self._write("w", self._digests)

    def _write(self, mode: str, digests: Iterable[str]) -> None:
        try:
            with self._path.open(mode) as lines:
                lines.writelines(digest + "\n" for digest in digests)
        except OSError as error:
            raise UnusableError(f"--state {self._path}: {error}") from error

    def _digest(self, prompt: Prompt) -> str:
        return hashlib.blake2b(self._key + b"\0" + str(prompt).encode(), digest_size=16).hexdigest()


@dataclass
class Outcome:
    """What became of the prompts that were not done yet."""

    computed: int = 0
    before: int = 0
    """prompts that were done"""
    refused: list[str] = field(default_factory=list)
    """the engine's answers to the prompts that it refused"""


def preprocess(
    prompts: Sequence[Prompt], compute: Callable[[Prompt], None], done: Done,
    say: Callable[[int, int], None] = lambda done, of: None,
) -> Outcome:  # fmt: skip
    """Computes every prompt that is not done yet. Goes on after those that the engine refuses.

    compute  has an engine compute a prompt with full attention, so that its segments are stored or averaged
    say      called with the number of prompts seen to and the total
    """
    outcome = Outcome()
    for number, prompt in enumerate(prompts, 1):
        if done.holds(prompt):
            outcome.before += 1
        else:
            try:
                compute(prompt)
            except RefusedError as error:
                outcome.refused.append(str(error))
            else:
                done.add(prompt)
                outcome.computed += 1
        say(number, len(prompts))
    return outcome


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
