"""The engine's side of the reports: facts from the scheduler's thread, until they cannot be trusted."""

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from reprise_sglang.cache_facts import Anchored, Evicted, Promoted

logger = logging.getLogger(__name__)

_HEALTH_CHECK = "HEALTH_CHECK"


class Sender(Protocol):
    """What of `reprise_callbacks.CallbackSender` is used."""

    def report(self, report: object, facts: int = 1) -> None: ...

    def cleared(self) -> None: ...

    def close(self) -> None: ...


class CacheReporter:
    """Hands facts to the sender; after the first fault it says that nothing is cached and stays silent."""

    def __init__(self, sender: Sender) -> None:
        self._sender: Sender | None = sender
        self._facts: list[Anchored | Evicted | Promoted] = []

    def anchored(self, request_id: object, node: int, tokens: int) -> None:
        """The request's cached prefix ends with this node; SGLang's own health probes are nobody's requests."""
        if isinstance(request_id, str) and not request_id.startswith(_HEALTH_CHECK):
            self._facts.append(Anchored(request_id, node, tokens))
            self.flush()

    def evicted(self, fact: Evicted) -> None:
        """A leaf is gone; told with the next flush, for every report wakes the sender's thread."""
        self._facts.append(fact)

    def promoted(self, fact: Promoted) -> None:
        """A node is back; told with the next flush, too."""
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
        """Runs our code beside the engine's: its result, or None after a fault, which never reaches the engine."""
        if not self._sender:
            return None
        try:
            return observe(*arguments)
        except Exception as error:
            self.stop(f"{type(error).__name__}: {error}")
            return None

    def stop(self, reason: str) -> None:
        """Reports no more: what reprise believes would no longer be true."""
        sender, self._sender = self._sender, None
        if sender is None:
            return
        logger.error("reprise: the prefix cache is NOT reported any more, serving goes on. %s", reason)
        with contextlib.suppress(Exception):
            sender.cleared()
            # closing waits for the last post, which is not the scheduler's to wait for
            threading.Thread(target=sender.close, name="reprise-close", daemon=True).start()
