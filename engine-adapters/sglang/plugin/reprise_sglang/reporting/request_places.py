"""Which tree node each request's cached prefix ends with."""

from collections.abc import Iterable, Iterator
from itertools import islice

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_sglang.reporting.cache_reporter import ROOT, Anchored, Evicted, Lengths, Promoted, Refound

_MOST_ASLEEP = 65_536
"""host nodes for which the requests that ended there are remembered"""
_MOST_REMEMBERED = 8
"""requests per host node: one would do if reprise never forgot any"""


class RequestPlaces:
    """
    Translates facts about the tree into changes of requests, on the sender's thread (`reprise_callbacks.Translator`).

    Each request is kept at one node only, its deepest, so a prefix shared by thousands costs nothing extra. SGLang
    evicts leaves, so a request moves up by one node. A split keeps the name of the deeper part, so its requests stay
    put.

    Requests with the same beginning share the lengths at which it is found. What is told last replaces what was told of
    others, so a change is told of one of them.
    """

    def __init__(self) -> None:
        self._place: dict[str, tuple[int, int]] = {}
        """by request: its node, and how many tokens are cached up to there"""
        self._requests_at: dict[int, set[str]] = {}
        self._asleep: dict[int, tuple[str, ...]] = {}
        """by host node: requests that ended there when it left the GPU"""

    @property
    def requests(self) -> int:
        """How many requests have cached tokens."""
        return len(self._place)

    def translate(
        self, report: Iterable[Anchored | Evicted | Promoted | Refound | Cleared]
    ) -> Iterator[Change | Cleared]:
        told: set[int] = set()
        for fact in report:
            if isinstance(fact, Anchored):
                yield self._anchor(fact)
            elif isinstance(fact, Evicted):
                yield from self._retreat(fact)
            elif isinstance(fact, Promoted):
                yield from self._wake(fact)
            elif isinstance(fact, Refound):
                yield from self._find_otherwise(fact, told)
            else:
                self.forget_all()
                yield fact

    def forget(self, request_id: str) -> None:
        place = self._place.pop(request_id, None)
        if place is None:
            return
        requests = self._requests_at[place[0]]
        requests.discard(request_id)
        if not requests:
            del self._requests_at[place[0]]

    def forget_all(self) -> None:
        self._place.clear()
        self._requests_at.clear()
        self._asleep.clear()

    def _anchor(self, fact: Anchored) -> Change:
        request_id, node, tokens, lengths = fact
        self.forget(request_id)
        if tokens == ROOT:
            # reprise believes that what it sent is cached until a report says otherwise
            return evicted(request_id, 0)
        self._place[request_id] = node, tokens
        self._requests_at.setdefault(node, set()).add(request_id)
        return stored(request_id, tokens, checkpoints=None if lengths is None else _to_checkpoints(lengths))

    def _find_otherwise(self, fact: Refound, told: set[int]) -> Iterator[Change]:
        if told.issuperset(fact.changed):
            return
        for request_id in islice(self._requests_at.get(fact.node, ()), 1):
            told.update(fact.changed)
            yield evicted(request_id, self._place[request_id][1], _to_checkpoints(fact.lengths))

    def _retreat(self, fact: Evicted) -> Iterator[Change]:
        node, parent, tokens, stays = fact
        fallen = self._requests_at.pop(node, None)
        if fallen is None:
            return
        if stays:
            self._put_to_sleep(node, fallen)
        if tokens == ROOT:
            for request_id in fallen:
                del self._place[request_id]
        else:
            for request_id in fallen:
                self._place[request_id] = parent, tokens
            self._requests_at.setdefault(parent, set()).update(fallen)
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
            # skip requests that have moved elsewhere since
            if self._place.get(request_id, (parent,))[0] == parent:
                yield self._anchor(Anchored(request_id, node, tokens))


def _to_checkpoints(lengths: Lengths) -> list[int | tuple[int, int]]:
    return [first if first == last else (first, last) for first, last in lengths]
