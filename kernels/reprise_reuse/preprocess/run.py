"""Has prompts of documents computed, and records which are done."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reprise_reuse.preprocess.engine import RefusedError
from reprise_reuse.preprocess.prompts import Prompt, UnusableError


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
