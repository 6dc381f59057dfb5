"""The engine's side of the reports: passes on facts from the scheduler's thread until they cannot be trusted."""

import contextlib
import logging
import threading
from collections.abc import Callable

from reprise_callbacks import CallbackSender
from reprise_sglang.reporting.cache_facts import Anchored, Evicted, Lengths, Promoted, Refound

logger = logging.getLogger(__name__)

_HEALTH_CHECK = "HEALTH_CHECK"


class CacheReporter:
    """Passes facts to the sender. After the first fault, reports that nothing is cached and stays silent."""

    def __init__(self, sender: CallbackSender) -> None:
        self._sender: CallbackSender | None = sender
        self._facts: list[Anchored | Evicted | Promoted | Refound] = []

    def anchored(self, request_id: object, node: int, tokens: int, lengths: Lengths | None = None) -> None:
        """The request's cached prefix ends with this node. Ignores SGLang's own health probes."""
        if isinstance(request_id, str) and not request_id.startswith(_HEALTH_CHECK):
            self._facts.append(Anchored(request_id, node, tokens, lengths))
            self.flush()

    def evicted(self, fact: Evicted | Refound) -> None:
        """A leaf, a window or a state was evicted. Sent with the next flush: every report wakes the sender's thread."""
        self._facts.append(fact)

    def promoted(self, fact: Promoted) -> None:
        """A node was promoted. Sent with the next flush."""
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
            # closing waits for the last post; the scheduler must not
            threading.Thread(target=sender.close, name="reprise-close", daemon=True).start()
