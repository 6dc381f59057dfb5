"""The scheduler's side of a shared store: what to look up, read and write there."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from reprise_reuse.costs import Costs
from reprise_reuse.disk.disk_segments import file_of, segment_of
from reprise_reuse.disk.messages import Lookup, RemoteFile, ReuseReport, TierOrders
from reprise_reuse.prompts.asked import Asked
from reprise_reuse.prompts.users import EVERYONE, PREPROCESSED
from reprise_reuse.remote.remote_tier import SPARSE
from reprise_reuse.segments import Catalogue, Found, Grams, Segment
from reprise_reuse.segments.cut import SHORTEST
from reprise_reuse.segments.segment import gaps

_COPIED = 64 << 20
"""bytes of rows on a rank that a step copies to have them written, or a single segment: the step waits for it"""
_REMEMBERED = 60.0
"""seconds after which a store that was too slow is tried again, with one call"""
_LOOKED_UP_AGAIN = 5.0
"""the same for lookups, for which nobody waits then"""
_IN_VAIN = 0.03
"""of the time that a call may save, for which a store may answer nothing"""
_LEAST_SILENCE = 0.01
_NEWS = 0.05
"""weight of the last lookup in the share of those that have found something"""


class Pace:
    """What a unit of work takes, as last measured; nothing as long as that is not known."""

    def __init__(self) -> None:
        self._seconds, self._measured_at, self._tried_at = 0.0, -math.inf, -math.inf

    def of(self, units: float) -> float:
        """Returns how many seconds so many units take."""
        return self._seconds * units

    def lately(self, units: float) -> float:
        """Returns the same; nothing if that was not measured lately."""
        return self.of(units) if time.monotonic() - self._measured_at < _REMEMBERED else 0.0

    def measured(self, seconds: float, units: float) -> None:
        """So many units took so long."""
        if seconds and units:
            taken, now = seconds / units, time.monotonic()
            is_new = now - self._measured_at < _REMEMBERED
            self._seconds, self._measured_at = (taken + self._seconds) / 2 if is_new else taken, now

    def may_try(self, after: float) -> bool:
        """Whether to try what seems too slow: nothing was measured or tried for so many seconds."""
        now = time.monotonic()
        is_old = now - max(self._measured_at, self._tried_at) >= after
        self._tried_at = now if is_old else self._tried_at
        return is_old


class RemoteSegments:
    """
    Finds segments in a shared store while their requests wait, and has those read that are computed more slowly.

    A segment found there is in the catalogue from then on, until it leaves host memory; then it is looked up again. So
    nothing is kept here of what the store holds, however much that is.
    """

    def __init__(self, catalogue: Catalogue, row_bytes: int, *, is_used: bool) -> None:
        """row_bytes: what a token takes on a rank; is_used: whether there is a store"""
        self._catalogue, self._row_bytes, self._is_used = catalogue, row_bytes, is_used
        self._orders = TierOrders()
        # what requests' lookups have found; None: they are not answered yet
        self._found: dict[str, list[Segment] | None] = {}
        self._key, self._byte = Pace(), Pace()
        self._hits = 1.0
        self._costs: Costs | None = None
        # segments to be written, with who may find them, until steps have room for it
        self._shared: dict[int, tuple[Segment, bytes]] = {}

    def look_up(
        self, request: str, asked: Asked, tokens: np.ndarray, find: Callable[[], Sequence[Found]], costs: Costs,
        begin: int = 0,
    ) -> None:  # fmt: skip
        """Has looked up what a prompt (int32 [n]) repeats of others' segments, if that may be expected to save time.

        find   returns what segments here hold of it
        begin  where the engine's own cache of it ends, as far as is known
        """
        if not self._is_used:
            return
        self._costs = costs
        missing = [(begin, end) for begin, end in gaps(find(), begin, len(tokens)) if end - begin >= SHORTEST]
        if not missing:
            return
        seconds = costs.prefill(0, sum(end - begin for begin, end in missing))
        grams = Grams(tokens, SPARSE)
        wanted = np.unique(np.concatenate([grams.anchors(*gap)[1] for gap in missing]))
        audiences = EVERYONE, asked.wish.user
        expected = self._key.of(len(wanted) * len(audiences))
        if expected < seconds * self._hits or self._key.may_try(_LOOKED_UP_AGAIN):
            silence = _silence(expected, seconds)
            self._orders.lookups.append(Lookup(request, asked.namespace, audiences, wanted, seconds, silence))
            self._found[request] = None

    def order_reads(self, request: str, found: Sequence[Found], rest: tuple[int, int], costs: Costs) -> bool:
        """Has those of a prompt's segments read that only the store holds, if that takes less than computing them.

        Returns False as long as its lookup is not answered, and may bring something.

        rest  where the engine's own cache of the prompt ends, and the prompt itself; `found` is within
        """
        expected = self._found.get(request, ())
        if expected is None and all(end - begin < SHORTEST for begin, end in gaps(found, *rest)):
            del self._found[request]
            return True
        if not expected:
            return expected is not None
        del self._found[request]
        wanted = [one for one in found if one.segment.audience is not None and not _is_here(one.segment)]
        size = sum(len(one) for one in {one.segment.name: one.segment for one in wanted}.values()) * self._row_bytes
        taken, seconds = self._byte.of(size), costs.prefill(0, sum(one.match.length for one in wanted))
        if wanted and taken >= seconds:
            wanted = wanted[: self._byte.may_try(_REMEMBERED)]
        more = {"seconds": seconds, "silence": _silence(taken, seconds)}
        for segment in (one.segment for one in wanted):
            if not segment.is_fetching and self._catalogue.fetch(segment):
                segment.is_fetching = True
                self._orders.fetches.append(file_of(segment, RemoteFile, audience=segment.audience, **more))
        self._drop(expected)
        return True

    def forget(self, request: str) -> None:
        """The request has ended."""
        self._drop(self._found.pop(request, None) or ())

    def forget_others(self, requests: Collection[str]) -> None:
        """Forgets all requests but those that still wait."""
        for request in self._found.keys() - requests:
            self.forget(request)

    def share(self, shared: Iterable[tuple[Segment, bytes, bool]]) -> None:
        """Has segments written that others may want (`prompts.storing.Storing.shared`), and read sooner than compute.

        What was preprocessed is written in any case: another engine may be nearer to the store.
        """
        for segment, audience, is_new in shared if self._is_used else ():
            is_wanted = PREPROCESSED in segment.users or not self._is_too_slow(segment)
            if len(segment) >= SHORTEST and (is_new or segment.audience is None) and is_wanted:
                self._shared[segment.name] = segment, audience

    def heard(self, report: ReuseReport) -> None:
        """Processes what workers have found, and what that took."""
        figures = report.figures
        self._key.measured(figures["remote_seconds", "lookup"], figures["remote", "keys"])
        self._byte.measured(figures["remote_seconds", "read"], figures["remote_bytes", "read"])
        for segment in filter(None, map(self._catalogue.get, report.unshared)):
            # the next prompt that has it has it written
            segment.audience = None
        for request, found in report.found:
            if self._found.get(request, ()) is None:
                self._found[request] = [
                    self._catalogue.expect(segment_of(file, tokens, audience=audience))
                    for audience, file, tokens in found or ()
                ]
                if found is not None:
                    self._hits += _NEWS * (bool(found) - self._hits)

    def take_orders(self, *, is_reset: bool) -> TierOrders | None:
        """Returns what workers must do; None: nothing. is_reset: everything was forgotten since the last call."""
        self._order_writes()
        orders, self._orders = self._orders, TierOrders()
        orders.is_reset = is_reset
        return orders if any((orders.fetches, orders.writes, orders.lookups, is_reset)) else None

    def _is_too_slow(self, segment: Segment) -> bool:
        """Whether reading a segment would take longer than computing it, as was measured lately."""
        taken = self._byte.lately(len(segment) * self._row_bytes)
        return taken > 0 and self._costs is not None and taken >= self._costs.prefill(0, len(segment))

    def _order_writes(self) -> None:
        room = _COPIED
        for segment, audience in list(self._shared.values()):
            # nobody waits for a step that preprocesses, and there may be none after it
            if room <= 0 and PREPROCESSED not in segment.users:
                continue
            del self._shared[segment.name]
            is_held = self._catalogue.get(segment.name) is segment and segment.slots is not None
            if is_held and not segment.is_fetching:
                room -= len(segment) * self._row_bytes
                segment.audience = audience
                self._orders.writes.append(file_of(segment, RemoteFile, audience=audience))

    def _drop(self, expected: Iterable[Segment]) -> None:
        """Forgets those segments whose rows are nowhere here, nor on their way."""
        for segment in expected:
            if not _is_here(segment) and not segment.is_fetching:
                self._catalogue.drop(segment)


def _silence(expected: float, saved: float) -> float:
    """Returns for how long a store may answer nothing while a request waits: not at all for one that is too slow."""
    if not expected:
        return saved
    if expected >= saved:
        return 0.0
    return max(_LEAST_SILENCE, _IN_VAIN * saved, 2 * expected)


def _is_here(segment: Segment) -> bool:
    return segment.slots is not None or segment.pages is not None or segment.is_on_disk
