"""The scheduler's side of segments on disk: which to read back, and what all ranks have finished."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from reprise_reuse.disk.messages import DiskFile, ReuseReport, TierOrders, digest_of
from reprise_reuse.prompts.asked import Asked
from reprise_reuse.segments import Catalogue, Found, Segment

File = TypeVar("File", bound=DiskFile)


class DiskSegments:
    """Has workers read segments, and records their reports in the catalogue once all ranks have reported."""

    def __init__(self, catalogue: Catalogue, ranks: int, row_bytes: int) -> None:
        """row_bytes: what a token takes on a rank's disk"""
        self._catalogue = catalogue
        self._ranks = ranks
        self._row_bytes = row_bytes
        self._fetched: Counter[int] = Counter()
        self._written: Counter[int] = Counter()

    def are_at_hand(self, asked: Asked, found: Sequence[Found], step: TierOrders) -> bool:
        """Starts reading segments that are only on disk. Returns whether all obtainable segments are in memory."""
        if asked.fetching:
            return not any(one.is_fetching and self._catalogue.get(one.name) is one for one in asked.fetching)
        for one in found:
            segment = one.segment
            is_missing = not segment.is_at_hand and not segment.is_fetching
            if is_missing and segment.is_on_disk and self._catalogue.fetch(segment):
                segment.is_fetching = True
                step.fetches.append(file_of(segment))
            if segment.is_fetching:
                asked.fetching.append(segment)
        return not asked.fetching

    def write(self, changed: Iterable[Segment], step: TierOrders) -> None:
        """Has segments written whose rows are new, if there is a disk."""
        if self._catalogue.has_disk:
            # if memory is short, segments stored first may have been evicted again
            step.writes += [file_of(one) for one in changed if one.slots is not None]

    def heard(self, report: ReuseReport, step: TierOrders) -> int:
        """Processes what workers have restored, read, written and lost. Returns how many segments were lost."""
        if report.unused_bytes:
            self._catalogue.give_up_disk(-(-report.unused_bytes // self._row_bytes))
        counts = Counter(file.name for file, _ in report.restored)
        restored = {file.name: (file, tokens) for file, tokens in report.restored}
        for file, tokens in (restored[name] for name, count in counts.items() if count == self._ranks):
            self._catalogue.restore(segment_of(file, tokens, owner=file.name, is_on_disk=True))
        for segment in filter(None, map(self._catalogue.get, self._complete(self._fetched, report.fetched))):
            segment.is_fetching = False
            segment.pins -= 1
        for name in self._complete(self._written, report.written):
            segment = self._catalogue.get(name)
            if segment is not None:
                self._catalogue.written(segment)
            else:
                # it was evicted while it was being written
                step.dropped_files.append(name)
        lost = [segment for owner in report.lost for segment in self._catalogue.owned_by(owner)]
        for segment in lost:
            segment.is_fetching = False
            self._catalogue.drop(segment)
        return len(lost)

    def _complete(self, so_far: Counter[int], news: Counter[int]) -> list[int]:
        """Returns the names that all ranks have reported."""
        so_far.update(news)
        names = [name for name in news if so_far[name] >= self._ranks]
        for name in names:
            del so_far[name]
        return names


def file_of(segment: Segment, kind: type[File] = DiskFile, **more: Any) -> File:
    """Describes a segment's file for workers; more: what this kind of file has besides."""
    return kind(
        segment.name, segment.slots, segment.namespace, segment.position, tuple(segment.prefixes), tuple(segment.users),
        segment.is_exact, segment.owner, digest_of(segment.tokens), **more,
    )  # fmt: skip


def segment_of(file: DiskFile, tokens: np.ndarray, **more: Any) -> Segment:
    """Returns the segment that a file describes, whose rows are not in memory; more: what else is known of it."""
    prefixes, users = list(file.prefixes), list(file.users)
    return Segment(file.name, file.namespace, tokens, None, file.position, prefixes, users, file.is_exact, **more)
