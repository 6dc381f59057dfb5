"""A worker's rows behind host memory: on its disk, and in a store that several engines share."""

from collections.abc import Callable
from logging import Logger
from pathlib import Path

import torch

from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import DiskFile, ReuseReport, TierOrders
from reprise_reuse.disk.segment_file import State
from reprise_reuse.host_store import HostStore
from reprise_reuse.remote.remote_tier import RemoteTier
from reprise_reuse.stores.store import store_at


def open_tiers(
    disk: str | None, remote: str | None, fingerprint: Callable[[], str], rank: int, logger: Logger
) -> tuple[DiskTier | None, RemoteTier | None]:
    """Returns a rank's disk tier in a folder and its tier in the store at an address, where they are named.

    fingerprint  identifies the model with its current weights, which are read only once for both
    """
    on_disk = DiskTier(Path(disk), fingerprint, rank, logger) if disk else None
    if not remote:
        return on_disk, None
    known = fingerprint if on_disk is None else on_disk.fingerprint
    return on_disk, RemoteTier(store_at(remote)(), known, logger, finds=rank == 0)


class Tiers:
    """Reads and writes rows as the scheduler's side says, where there is a disk or a shared store."""

    def __init__(self, disk: DiskTier | None, remote: RemoteTier | None, store: HostStore, logger: Logger) -> None:
        self._disk, self._remote, self._logger = disk, remote, logger
        self._rows = [None if tier is None else TierRows(tier, store, logger) for tier in (disk, remote)]

    def restore(self, report: ReuseReport) -> None:
        """Reports the segments that an earlier run of the engine left on disk; none if they cannot be listed."""
        if self._disk is not None:
            try:
                report.restored = list(self._disk.restore())
            except Exception:
                self._logger.exception("reprise: no segments are restored from disk")
            report.unused_bytes = self._disk.unused_bytes

    def tend(self, orders: TierOrders, report: ReuseReport) -> None:
        """Drops files, starts reads and lookups, and puts what was read into its slots."""
        remote = orders.remote or TierOrders()
        for rows, of_tier in zip(self._rows, (orders, remote), strict=True):
            if rows is not None:
                rows.tend(of_tier, report)
        if self._remote is not None:
            for lookup in remote.lookups:
                self._remote.look_up(lookup)
            report.found += self._remote.take_found()

    def write(self, orders: TierOrders) -> None:
        """Queues rows for writing."""
        for rows, of_tier in zip(self._rows, (orders, orders.remote), strict=True):
            for file in of_tier.writes if rows is not None and of_tier is not None else ():
                rows.write(file)

    def report(self, report: ReuseReport) -> None:
        """Adds what was written, refused and not written since the last call."""
        for tier in (self._disk, self._remote):
            if tier is not None:
                tier.report(report)

    def close(self) -> None:
        """Finishes queued writes to the disk."""
        for tier in (self._disk, self._remote):
            if tier is not None:
                tier.close()


class TierRows:
    """
    Moves rows between host memory and a tier.

    Every fetch is answered, as fetched or as fetched and lost, because requests wait for it. A fault affects only its
    own file. After a fault that concerns no single file, the tier is given up and every later fetch is lost.
    """

    def __init__(self, tier: DiskTier | RemoteTier, store: HostStore, logger: Logger) -> None:
        self._tier = tier
        self._store = store
        self._logger = logger
        self._fetching: dict[int, DiskFile] = {}
        self._outdated: set[int] = set()
        self._is_given_up = False

    def tend(self, step: TierOrders, report: ReuseReport) -> None:
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

    def _renew(self) -> None:
        self._outdated.update(self._fetching)
        try:
            self._tier.renew()
        except Exception:
            self._logger.exception("reprise: the model cannot be identified: no segments are read or written any more")
            self._is_given_up = True

    def _take_read(self, step: TierOrders) -> list[tuple[DiskFile, State | None]]:
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
        try:
            if state is not None:
                self._store.load_state(torch.from_numpy(file.slots), file.owner, state)
            return state is not None
        except Exception:
            self._logger.exception("reprise: a segment's rows cannot be taken from disk")
            return False
