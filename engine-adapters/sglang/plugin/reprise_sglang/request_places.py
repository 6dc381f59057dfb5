"""Which node of the tree each request's cached prefix ends with."""

from collections.abc import Iterable, Iterator
from itertools import islice

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_sglang.cache_facts import ROOT, Anchored, Evicted, Promoted

_MOST_ASLEEP = 65_536
"""nodes of the host of which it is known who stood there"""
_MOST_REMEMBERED = 8
"""requests for each: one would be enough, if reprise forgot none"""


class RequestPlaces:
    """
    Turns facts of the tree into changes of requests, on the sender's thread (`reprise_callbacks.Translator`).

    A request stands at one node only, its deepest, so that a prefix shared by thousands costs nothing more. SGLang
    evicts leaves, so falling back is one step up; a split keeps the deeper part's name, so those who stand there stay.
    """

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._standing: dict[int, set[str]] = {}
        self._asleep: dict[int, tuple[str, ...]] = {}
        """by node of the host: who stood there when it left the GPU"""

    @property
    def requests(self) -> int:
        """How many requests have something cached."""
        return len(self._place)

    def translate(self, report: Iterable[Anchored | Evicted | Promoted | Cleared]) -> Iterator[Change | Cleared]:
        for fact in report:
            if isinstance(fact, Anchored):
                yield self._anchor(fact)
            elif isinstance(fact, Evicted):
                yield from self._retreat(fact)
            elif isinstance(fact, Promoted):
                yield from self._wake(fact)
            else:
                self.forget_all()
                yield fact

    def forget(self, request_id: str) -> None:
        node = self._place.pop(request_id, None)
        if node is None:
            return
        standing = self._standing[node]
        standing.discard(request_id)
        if not standing:
            del self._standing[node]

    def forget_all(self) -> None:
        self._place.clear()
        self._standing.clear()
        self._asleep.clear()

    def _anchor(self, fact: Anchored) -> Change:
        request_id, node, tokens = fact
        self.forget(request_id)
        if tokens == ROOT:
            # reprise believes what it sent to be cached until it is told otherwise
            return evicted(request_id, 0)
        self._place[request_id] = node
        self._standing.setdefault(node, set()).add(request_id)
        return stored(request_id, tokens)

    def _retreat(self, fact: Evicted) -> Iterator[Change]:
        node, parent, tokens, stays = fact
        fallen = self._standing.pop(node, None)
        if fallen is None:
            return
        if stays:
            self._put_to_sleep(node, fallen)
        if tokens == ROOT:
            for request_id in fallen:
                del self._place[request_id]
        else:
            for request_id in fallen:
                self._place[request_id] = parent
            self._standing.setdefault(parent, set()).update(fallen)
        for request_id in fallen:
            yield evicted(request_id, tokens)

    def _put_to_sleep(self, node: int, fallen: set[str]) -> None:
        self._asleep.pop(node, None)
        self._asleep[node] = tuple(islice(fallen, _MOST_REMEMBERED))
        if len(self._asleep) > _MOST_ASLEEP:
            del self._asleep[next(iter(self._asleep))]

    def _wake(self, fact: Promoted) -> Iterator[Change]:
        node, parent, tokens = fact
        for request_id in self._asleep.pop(node, ()):
            # one that has gone on elsewhere since is nobody's business here
            if self._place.get(request_id, parent) == parent:
                yield self._anchor(Anchored(request_id, node, tokens))
