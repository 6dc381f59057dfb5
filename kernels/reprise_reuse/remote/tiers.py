"""A worker's rows behind host memory: on its disk, and in a store that several engines share."""

from collections.abc import Callable
from logging import Logger
from pathlib import Path

from reprise_reuse.disk.disk_rows import DiskRows
from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.disk.messages import DiskOrders, DiskReport
from reprise_reuse.host_store import HostStore
from reprise_reuse.remote.messages import RemoteOrders
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
        self._disk = None if disk is None else DiskRows(disk, store, logger)
        self._remote = remote
        self._shared = None if remote is None else DiskRows(remote, store, logger)

    def restore(self, report: DiskReport) -> None:
        """Reports the segments that an earlier run of the engine left on disk."""
        if self._disk is not None:
            report.restored, report.unused_bytes = self._disk.restore(), self._disk.unused_bytes

    def tend(self, orders: DiskOrders, remote: RemoteOrders | None, report: DiskReport) -> None:
        """Drops files, starts reads and lookups, and puts what was read into its slots."""
        remote = remote or RemoteOrders()
        if self._disk is not None:
            self._disk.tend(orders, report)
        if self._shared is not None:
            self._shared.tend(remote, report)
            for lookup in remote.lookups:
                self._remote.look_up(lookup)
            report.found += self._remote.take_found()

    def write(self, orders: DiskOrders, remote: RemoteOrders | None) -> None:
        """Queues rows for writing."""
        for rows, of_tier in ((self._disk, orders), (self._shared, remote)):
            for file in of_tier.writes if rows is not None and of_tier is not None else ():
                rows.write(file)

    def report(self, report: DiskReport) -> None:
        """Adds what was written, refused and not written since the last call."""
        if self._disk is not None:
            self._disk.report(report)
        if self._remote is not None:
            report.figures.update(self._remote.take_figures())
            report.unshared |= self._remote.take_unwritten()

    def close(self) -> None:
        """Finishes queued writes to the disk."""
        for tier in (self._disk, self._shared):
            if tier is not None:
                tier.close()
