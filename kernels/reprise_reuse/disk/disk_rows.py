"""Moves rows between a worker's host memory and disk."""

from logging import Logger

import numpy as np
import torch

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import DiskFile, DiskOrders, DiskReport
from reprise_reuse.disk.segment_file import State
from reprise_reuse.host_store import HostStore


class DiskRows:
    """
    Carries out the scheduler side's file operations.

    Every fetch is answered, as fetched or as fetched and lost, because requests wait for it. A fault affects only its
    own file. After a fault that concerns no single file, the disk is given up and every later fetch is lost.
    """

    def __init__(self, tier: DiskTier, store: HostStore, logger: Logger) -> None:
        self._tier = tier
        self._store = store
        self._logger = logger
        self._fetching: dict[int, DiskFile] = {}
        self._outdated: set[int] = set()
        self._is_given_up = False

    def restore(self) -> list[tuple[DiskFile, np.ndarray]]:
        """Returns the segments an earlier run left on disk; none if they cannot be listed."""
        try:
            return list(self._tier.restore())
        except Exception:
            self._logger.exception("reprise: no segments are restored from disk")
            return []

    def tend(self, step: DiskOrders, report: DiskReport) -> None:
        """Drops files, starts reads, and puts finished reads into their slots."""
        if step.is_reset:
            self._renew()
        self._fetching.update({file.name: file for file in step.fetches})
        for file, state in self._take_read(step):
            del self._fetching[file.name]
            if file.name in self._outdated or not self._put(file, state):
                self._store.forget(torch.from_numpy(file.slots))
                report.lost.add(file.owner)
                self._outdated.discard(file.name)
            report.fetched[file.name] += 1

    def write(self, file: DiskFile) -> None:
        """Queues a file's rows for writing, if its slots still belong to its segment."""
        slots = torch.from_numpy(file.slots)
        # if memory is short, the same step may have given the slots to another segment
        is_asked_for = not self._is_given_up and self._store.belong_to(slots, file.owner)
        # copying rows takes long, 0.1 s for 64 MiB, and the engine's step waits for it
        if is_asked_for and self._tier.has_room(file):
            self._tier.write(file, self._store.state(slots))

    def report(self, report: DiskReport) -> None:
        """Adds what was written, refused and not written since the last call."""
        report.written.update(self._tier.take_written())
        report.refused += self._tier.take_refused()
        report.unwritten += self._tier.take_unwritten()

    @property
    def unused_bytes(self) -> int:
        """The size of the files that `restore` left alone."""
        return self._tier.unused_bytes

    def close(self) -> None:
        """Finishes queued writes."""
        self._tier.close()

    def _renew(self) -> None:
        self._outdated.update(self._fetching)
        try:
            self._tier.renew()
        except Exception:
            self._logger.exception("reprise: the model cannot be identified: no segments are read or written any more")
            self._is_given_up = True

    def _take_read(self, step: DiskOrders) -> list[tuple[DiskFile, State | None]]:
        if not self._is_given_up:
            try:
                for name in step.dropped_files:
                    self._tier.drop(name)
                for file in step.fetches:
                    self._tier.start_read(file)
                return self._tier.take_read()
            except Exception:
                self._logger.exception("reprise: segments are neither read from disk nor written there any more")
                self._is_given_up = True
        return [(file, None) for file in self._fetching.values()]

    def _put(self, file: DiskFile, state: State | None) -> bool:
        if state is None:
            return False
        try:
            self._store.load_state(torch.from_numpy(file.slots), file.owner, state)
        except Exception:
            self._logger.exception("reprise: a segment's rows cannot be taken from disk")
            return False
        return True
