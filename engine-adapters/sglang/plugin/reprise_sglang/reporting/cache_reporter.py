"""The engine's side of the reports: passes facts about the tree from the scheduler's thread to the sender's."""

import contextlib
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from reprise_callbacks import CallbackSender

ROOT: Final = 0
"""tokens up to the root, where nothing is cached"""


Lengths = tuple[tuple[int, int], ...]
"""of prefixes, in tokens: ranges, first and last, in ascending order"""


class Anchored(NamedTuple):
    """A request's cached prefix now ends with this node of the tree, after `tokens` tokens."""

    request_id: str
    node: int
    tokens: int
    lengths: Lengths | None = None
    """at which others find it, up to there; None: at all of them, since the model has only full attention"""


class Evicted(NamedTuple):
    """A node without cached children is no longer cached; its parent still is, up to `parent_tokens` tokens."""

    node: int
    parent: int
    parent_tokens: int
    stays: bool = False
    """on the host, from which it may be promoted"""


class Promoted(NamedTuple):
    """A node that was evicted but stayed on the host is cached again after its parent, up to `tokens` tokens."""

    node: int
    parent: int
    tokens: int


class Refound(NamedTuple):
    """What is cached up to a node at which requests end is found at other lengths than before."""

    node: int
    lengths: Lengths
    changed: tuple[int, ...]
    """the nodes on the way there that were told otherwise"""


logger = logging.getLogger(__name__)


class CacheReporter:
    """Passes facts to the sender, as long as they can be trusted: after the first fault, reports that nothing is cached
    and stays silent."""

    def __init__(self, sender: CallbackSender) -> None:
        self._sender: CallbackSender | None = sender
        self._facts: list[Anchored | Evicted | Promoted | Refound] = []

    def tell(self, fact: Anchored | Evicted | Promoted | Refound) -> None:
        """Passes a fact on with the next flush."""
        self._facts.append(fact)

    def flush(self) -> None:
        if self._sender and self._facts:
            facts, self._facts = self._facts, []
            self._sender.report(facts, len(facts))

    def cleared(self) -> None:
        self._facts.clear()
        if self._sender:
            self._sender.cleared()

    def guard(self, observe: Callable[..., object], *arguments: object) -> object:
        """Runs our code inside the engine. Returns its result, or None after a fault; faults never reach the engine."""
        if not self._sender:
            return None
        try:
            return observe(*arguments)
        except Exception as error:
            self.stop(f"{type(error).__name__}: {error}")
            return None

    def stop(self, reason: str) -> None:
        """Stops reporting and clears what reprise believes, which would become wrong."""
        sender, self._sender = self._sender, None
        if sender is None:
            return
        logger.error("reprise: the prefix cache is NOT reported any more, serving goes on. %s", reason)
        with contextlib.suppress(Exception):
            sender.cleared()
            sender.close(wait=False)
