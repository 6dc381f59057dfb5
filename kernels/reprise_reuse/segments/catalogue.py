"""Which segments are held, where, and which to evict when room is needed."""

from collections.abc import Iterable

import numpy as np

from reprise_reuse.segments.eviction_order import EvictionOrder
from reprise_reuse.segments.places import PageResidents, Slots
from reprise_reuse.segments.segment import Found, Segment, prefix_digests
from reprise_reuse.segments.segment_index import MIN_STORED, SegmentIndex
from reprise_reuse.segments.winnow import Anchors


class Catalogue:
    """
    The scheduler's record of segments: what is stored, where, and what to evict when room is needed.

    A segment is in the engine's own pages until these are reallocated, then in host memory, where a copy may have been
    before, then on disk. Workers keep rows by slot and know nothing about segments, so all ranks hold the same rows by
    construction. Host memory is limited by slots, disk by tokens. Unpinned segments are evicted in the order of
    `EvictionOrder`.
    """

    def __init__(self, host_tokens: int, disk_tokens: int = 0, first_name: int = 0, block_size: int = 1) -> None:
        """first_name: above all names from earlier runs whose segments may be restored; block_size: of the pages."""
        self._slots = Slots(host_tokens)
        self._disk_room = disk_tokens
        self._indexes: dict[bytes, SegmentIndex] = {}
        self._segments: dict[int, Segment] = {}
        self._order = EvictionOrder(host_tokens)
        self._residents = PageResidents(block_size)
        self._next_name = first_name
        self._disk_tokens = 0
        self.evicted = 0
        """segments evicted from the last tier that held them, for lack of room"""
        self.version = 0
        """rises whenever the set of segments that can be found changes, or what one of them is the mean of"""
        self._dropped_files: list[int] = []

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def capacity(self) -> int:
        """The most tokens that host memory holds."""
        return self._slots.capacity

    @property
    def has_disk(self) -> bool:
        """Whether segments are kept on disk."""
        return self._disk_room > 0

    @property
    def host_tokens(self) -> int:
        """Tokens with rows in host memory."""
        return self._slots.capacity - self._slots.free

    def get(self, name: int) -> Segment | None:
        """Returns the segment with that name; None if it is no longer held."""
        return self._segments.get(name)

    def owned_by(self, owner: int) -> list[Segment]:
        """Returns the segments whose rows were stored under this name."""
        return [segment for segment in self._segments.values() if segment.owner == owner]

    def find(self, namespace: bytes, tokens: np.ndarray, begin: int = 0) -> list[Found]:
        """Returns the runs of `tokens[begin:]` (int32 [n]) that segments of this namespace hold, in order."""
        index = self._indexes.get(namespace)
        if index is None:
            return []
        matches = index.find(tokens, begin)
        digests = prefix_digests(tokens, {self._segments[match.segment].position for match in matches})
        found = ((match, self._segments[match.segment]) for match in matches)
        return [Found(match, segment, segment.is_as_computed(match, tokens, digests)) for match, segment in found]

    def use(self, segments: Iterable[Segment]) -> None:
        """A prompt repeated these segments: they are evicted last."""
        for segment in segments:
            if segment.name in self._segments:
                self._order.use(segment)

    def add(
        self, namespace: bytes, tokens: np.ndarray, position: int, prefix: bytes, *, is_exact: bool,
        user: bytes, pages: np.ndarray | None = None, anchors: Anchors | None = None,
    ) -> Segment | None:  # fmt: skip
        """Returns a new segment; None if host memory has no room for it.

        pages    where its rows are in the engine's pages, int64 [n]; such a segment needs no host memory yet
        anchors  of its tokens, if the caller has them
        """
        if pages is None and not self._make_room(len(tokens)):
            return None
        name = self._name()
        segment = Segment(name, namespace, tokens, None, position, [prefix], [user], is_exact, owner=name, pages=pages)
        if pages is None:
            segment.slots = self._slots.take(len(tokens))
        self._enter(segment, anchors=anchors)
        return segment

    def place(self, segment: Segment, pages: np.ndarray) -> None:
        """Moves a segment to other pages: its rows are there from now on, and nowhere else."""
        if segment.slots is not None:
            self._give_slots(segment)
        self._residents.leave(segment.name, segment.pages)
        segment.pages = pages
        self._residents.enter(segment.name, pages)

    def vacate(self, block: int) -> list[tuple[Segment, np.ndarray]]:
        """The engine reallocates a block of its pages. Returns the segments that leave the pages, and their old slots.

        Their rows can be read until the engine's next forward pass. By then the caller must move or drop each that has
        no copy in host memory.
        """
        return [(segment, self._leave_pages(segment)) for segment in self.residents(block)]

    def vacate_all(self) -> None:
        """The contents of the engine's pages are no longer reliable: drops the segments that are only there."""
        for segment in [one for one in self._segments.values() if one.pages is not None]:
            if segment.slots is None:
                self.drop(segment)
            else:
                self._leave_pages(segment)

    def residents(self, block: int) -> list[Segment]:
        """Returns the segments with rows in this block of the engine's pages."""
        return [self._segments[name] for name in self._residents.of(block)]

    def is_repeated(self, segment: Segment) -> bool:
        """Whether a prompt has repeated this segment."""
        return self._order.is_repeated(segment)

    def copy(self, segment: Segment) -> bool:
        """Gives a segment in the pages slots in host memory too. Returns False if there is no room."""
        if segment.slots is None and self._make_room(len(segment)):
            segment.slots = self._slots.take(len(segment))
            self._order.count_host(segment, 1)
        return segment.slots is not None

    def bring(self, segment: Segment) -> bool:
        """Moves a segment from the pages to slots in host memory. Returns False if there is no room."""
        if not self.copy(segment):
            return False
        if segment.pages is not None:
            self._leave_pages(segment)
        return True

    def cut_out(self, segment: Segment, begin: int, end: int) -> Segment:
        """Makes `segment.tokens[begin:end]`, whose rows are at hand, a segment of its own and returns it.

        A prompt that repeats exactly this run shows where texts begin and end. What is left on either side is kept if
        it is long enough to be found. The prefix that the later parts were computed after is no longer known.
        """
        tokens, slots = segment.tokens, segment.slots
        pages = None if segment.pages is None else self._leave_pages(segment)
        is_repeated = self._order.is_repeated(segment)
        if slots is not None:
            self._order.count_host(segment, -1)
            segment.slots = None
        self.drop(segment)
        parts = [(0, begin), (begin, end), (end, len(tokens))]
        made = {}
        for start, stop in parts:
            if stop - start < MIN_STORED and (start, stop) != (begin, end):
                if slots is not None:
                    self._slots.give_back(slots[start:stop])
                continue
            made[start] = Segment(
                self._name(), segment.namespace, tokens[start:stop], _part(slots, start, stop),
                segment.position + start, segment.prefixes[:] if start == 0 else [b""],
                segment.users[:], segment.is_exact and start == 0, owner=segment.owner, pages=_part(pages, start, stop),
            )  # fmt: skip
            self._enter(made[start], is_repeated=is_repeated)
        return made[begin]

    def restore(self, segment: Segment) -> None:
        """Enters a segment that an earlier run of the engine left on disk; its name must not be in use."""
        if segment.name in self._segments:
            raise ValueError(f"there is a segment {segment.name} already")
        self._next_name = max(self._next_name, segment.name + 1)
        self._enter(segment)
        self._disk_tokens += len(segment)
        self._bound_disk()

    def expect(self, segment: Segment) -> Segment:
        """Enters a segment whose rows are in a shared store, and nowhere here yet. Gives it a name."""
        segment.name = segment.owner = self._name()
        self._enter(segment)
        return segment

    def fetch(self, segment: Segment) -> bool:
        """Gives a segment without rows here slots in host memory, pinned. Returns False if there is no room."""
        segment.pins += self.copy(segment)
        return segment.slots is not None

    def written(self, segment: Segment) -> None:
        """The segment's rows are now on disk, too."""
        if not segment.is_on_disk:
            segment.is_on_disk = True
            self._disk_tokens += len(segment)
        self._bound_disk()

    def give_up_disk(self, tokens: int) -> None:
        """Something else takes this much of the room on disk."""
        self._disk_room = max(0, self._disk_room - tokens)
        self._bound_disk()

    def drop(self, segment: Segment) -> None:
        """Forgets a segment on all tiers."""
        if segment.name not in self._segments:
            return
        if segment.slots is not None:
            self._give_slots(segment)
        del self._segments[segment.name]
        self._order.leave(segment)
        index = self._indexes[segment.namespace]
        index.remove(segment.name)
        if not len(index):
            del self._indexes[segment.namespace]
        if segment.pages is not None:
            self._leave_pages(segment)
        segment.is_fetching = False
        self.version += 1
        if segment.is_on_disk:
            self._leave_disk(segment)

    def take_dropped_files(self) -> list[int]:
        """Returns the names of segments whose files must be deleted, since the last call."""
        dropped, self._dropped_files = self._dropped_files, []
        return dropped

    def clear(self) -> None:
        """Forgets all segments that are not pinned."""
        for segment in [one for one in self._segments.values() if not one.pins]:
            self.drop(segment)

    def _name(self) -> int:
        self._next_name += 1
        return self._next_name - 1

    def _enter(self, segment: Segment, *, is_repeated: bool = False, anchors: Anchors | None = None) -> None:
        self.version += 1
        self._segments[segment.name] = segment
        self._order.enter(segment, is_repeated=is_repeated)
        if segment.pages is not None:
            self._residents.enter(segment.name, segment.pages)
        self._indexes.setdefault(segment.namespace, SegmentIndex()).add(segment.name, segment.tokens, anchors)

    def _leave_pages(self, segment: Segment) -> np.ndarray:
        pages, segment.pages = segment.pages, None
        self._residents.leave(segment.name, pages)
        self.version += 1
        return pages

    def _make_room(self, tokens: int) -> bool:
        missing = tokens - self._slots.free
        if missing <= 0:
            return True
        leaving = []
        for segment in self._order.of_host():
            leaving.append(segment)
            missing -= len(segment)
            if missing <= 0:
                break
        if missing > 0:
            return False
        for segment in leaving:
            if segment.is_on_disk or segment.pages is not None:
                self._give_slots(segment)
                self.version += 1
            else:
                self.drop(segment)
                self.evicted += 1
        return True

    def _give_slots(self, segment: Segment) -> None:
        self._slots.give_back(segment.slots)
        segment.slots = None
        self._order.count_host(segment, -1)

    def _bound_disk(self) -> None:
        if self._disk_tokens <= self._disk_room:
            return
        for segment in self._order.of_disk():
            if self._disk_tokens <= self._disk_room:
                return
            if segment.slots is None:
                self.drop(segment)
                self.evicted += 1
            else:
                self._leave_disk(segment)

    def _leave_disk(self, segment: Segment) -> None:
        segment.is_on_disk = False
        self._disk_tokens -= len(segment)
        self._dropped_files.append(segment.name)


def _part(places: np.ndarray | None, start: int, stop: int) -> np.ndarray | None:
    return None if places is None else places[start:stop]
