"""Has prompts of documents computed, and remembers which are done."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from reprise_reuse.preprocess.windows import Window


class Done:
    """Which prompts an engine has computed; a file with one digest a line, so that a later run goes on."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._digests = set(path.read_text().split()) if path is not None and path.exists() else set()

    def holds(self, prompt: str) -> bool:
        """Whether this prompt was computed."""
        return _digest(prompt) in self._digests

    def add(self, prompt: str) -> None:
        """This prompt was computed."""
        self._digests.add(_digest(prompt))
        if self._path is not None:
            with self._path.open("a") as lines:
                lines.write(_digest(prompt) + "\n")


def preprocess(
    windows: Sequence[Window],
    compute: Callable[[str], None],
    template: str,
    system: str,
    done: Done,
    say: Callable[[int, int], None] = lambda done, of: None,
) -> int:
    """Has every window computed that is not done yet; returns how many were.

    compute  has an engine compute a prompt by full attention, so that its segments are stored or averaged
    say      is told how many prompts of how many are done
    """
    computed = 0
    for number, window in enumerate(windows, 1):
        prompt = system + "".join(template.format(document) for document in window)
        if not done.holds(prompt):
            compute(prompt)
            done.add(prompt)
            computed += 1
        say(number, len(windows))
    return computed


def _digest(prompt: str) -> str:
    return hashlib.blake2b(prompt.encode(), digest_size=16).hexdigest()
