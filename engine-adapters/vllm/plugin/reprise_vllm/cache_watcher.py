"""Watches the scheduler's cache and reports what changed; everything here runs on the engine's thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reprise_vllm.pool_observer import PoolObserver
from reprise_vllm.step_report import StepReport
from reprise_vllm.watched_group import WatchedGroup

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock
    from vllm.v1.request import Request


class Reports(Protocol):
    """Where steps are reported to."""

    def report(self, report: StepReport, facts: int = 1) -> None: ...

    def cleared(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much of a request's prompt is not what full attention gives, in tokens."""

    exact: int
    """length of its prefix that full attention computed"""
    reused: int
    """taken from another position and not computed again"""
    recomputed: int
    """computed again among them"""


class CacheWatcher:
    """
    Collects what a step evicts and stores, and hands it over once per step.

    The truth is the pool's own: a hash is lost when no physical block has it at the end of the step, so that duplicates
    and blocks that are evicted and computed again within a step need no counting.
    """

    def __init__(self, pool: "BlockPool", group: WatchedGroup, reports: Reports) -> None:
        self._pool = pool
        self._group = group
        self._reports = reports
        self._observer = PoolObserver(pool, self._block_evicted, self._cleared)
        # keys of the blocks evicted in this step
        self._evicted: list[bytes] = []
        # requests whose full blocks are not all cached yet, with the hashes of these blocks and the last one's key
        self._prefilling: dict[str, tuple[Sequence[bytes], bytes]] = {}
        # how many blocks of the running requests were reported
        self._told: dict[str, int] = {}
        self._reused: dict[str, tuple[int, int]] = {}

    def scheduled(self, request: "Request", reuse: Reuse | None = None) -> None:
        """The request has blocks, for the first time or again after a preemption."""
        hashes = self._hashes_of(request, reuse)
        if reuse is not None:
            self._reused[request.request_id] = (reuse.reused, reuse.recomputed)
        if hashes:
            self._prefilling[request.request_id] = (hashes, self._group.key_of(hashes[-1]))
        elif reuse is not None:
            reused = {request.request_id: (reuse.reused, reuse.recomputed)}
            self._reports.report(StepReport(stored=((request.request_id, ()),), reused=reused))

    def end_step(self) -> None:
        """Hands over what has changed since the last step."""
        if not self._evicted and not self._prefilling:
            return
        is_cached = self._pool.cached_block_hash_to_block.get_one_block
        lost: Sequence[bytes] = ()
        if self._evicted:
            lost = [key for key in self._evicted if is_cached(key) is None]
            self._evicted.clear()
        stored = self._take_stored(is_cached) if self._prefilling else ()
        if lost or stored:
            reused = {request_id: self._reused[request_id] for request_id, _ in stored if request_id in self._reused}
            self._reports.report(StepReport(lost, stored, reused), len(lost) + sum(len(hashes) for _, hashes in stored))

    def finished(self, request: "Request", reuse: Reuse | None = None) -> None:
        """The request is over; what it generated may have become cached, and what it was sent for may never have."""
        request_id = request.request_id
        self._prefilling.pop(request_id, None)
        self._reused.pop(request_id, None)
        told = self._told.pop(request_id, None)
        hashes = self._hashes_of(request, reuse)
        blocks = len(hashes)
        if blocks == told:
            return
        # tokens that were sampled last are not computed, so their block is not cached
        is_cached = self._pool.cached_block_hash_to_block.get_one_block
        while blocks > (told or 0) and is_cached(self._group.key_of(hashes[blocks - 1])) is None:
            blocks -= 1
        if blocks != told:
            self._reports.report(StepReport(stored=((request_id, hashes[:blocks]),)), blocks + 1)

    def stop(self) -> None:
        """Leaves the engine as it was."""
        self._observer.detach()

    def _hashes_of(self, request: "Request", reuse: Reuse | None) -> Sequence[bytes]:
        """Of the blocks that another request could find: those of rows that full attention computed."""
        hashes = self._group.hashes_of(request)
        return hashes if reuse is None else hashes[: reuse.exact // self._group.block_size]

    def _take_stored(self, is_cached: Callable[[bytes], object]) -> list[tuple[str, Sequence[bytes]]]:
        # the last block is cached when all are
        stored = [
            (request_id, hashes)
            for request_id, (hashes, last_key) in self._prefilling.items()
            if is_cached(last_key) is not None
        ]
        for request_id, hashes in stored:
            del self._prefilling[request_id]
            self._told[request_id] = len(hashes)
        return stored

    def _block_evicted(self, block: "KVCacheBlock") -> None:
        key = block.block_hash
        if key is not None:
            self._evicted.append(key)

    def _cleared(self) -> None:
        self._told.clear()
        self._reports.cleared()
