"""The order in which segments are evicted."""

from collections import OrderedDict
from collections.abc import Iterator

from reprise_reuse.segments.segment import Segment

PROBATION = 0.2
"""share of host memory for segments that no prompt has repeated yet; beyond it they are evicted before all others"""


class EvictionOrder:
    """
    A segmented LRU: segments never repeated by a prompt are evicted first while they exceed their share of host memory.

    Within each kind, the least recently used goes first.
    """

    def __init__(self, host_tokens: int) -> None:
        """host_tokens: how many tokens host memory has room for"""
        self._room_for_new = int(PROBATION * host_tokens)
        # by name, in order of last use
        self._new: OrderedDict[int, Segment] = OrderedDict()
        self._repeated: OrderedDict[int, Segment] = OrderedDict()
        self._new_host_tokens = 0

    def enter(self, segment: Segment, *, is_repeated: bool) -> None:
        """Adds a segment, which is evicted last of its kind."""
        (self._repeated if is_repeated else self._new)[segment.name] = segment
        if segment.slots is not None:
            self.count_host(segment, 1)

    def use(self, segment: Segment) -> None:
        """A prompt repeated this segment: it is evicted last."""
        if self._new.pop(segment.name, None) is not None and segment.slots is not None:
            self._new_host_tokens -= len(segment)
        self._repeated[segment.name] = segment
        self._repeated.move_to_end(segment.name)

    def leave(self, segment: Segment) -> None:
        """Removes a segment that no longer has rows in host memory."""
        for kind in (self._new, self._repeated):
            kind.pop(segment.name, None)

    def is_repeated(self, segment: Segment) -> bool:
        """Whether a prompt has repeated this segment."""
        return segment.name in self._repeated

    def count_host(self, segment: Segment, sign: int) -> None:
        """A segment got slots in host memory (1) or gave them back (-1)."""
        if segment.name in self._new:
            self._new_host_tokens += sign * len(segment)

    def of_host(self) -> Iterator[Segment]:
        """Yields the unpinned segments in host memory, in the order in which they leave it."""
        new, repeated = (
            (one for one in kind.values() if one.slots is not None and not one.pins)
            for kind in (self._new, self._repeated)
        )
        excess = self._new_host_tokens - self._room_for_new
        for segment in new:
            if excess <= 0:
                yield from repeated
            yield segment
            excess -= len(segment)
        yield from repeated

    def of_disk(self) -> list[Segment]:
        """Returns the unpinned segments on disk, in the order in which they leave it."""
        return [one for one in (*self._new.values(), *self._repeated.values()) if one.is_on_disk and not one.pins]
