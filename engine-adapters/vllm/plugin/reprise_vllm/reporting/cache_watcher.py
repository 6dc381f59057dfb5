"""Watches the scheduler's cache and reports what changed. Everything here runs on the engine's thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_callbacks import CallbackSender
from reprise_vllm.engine.contained import contained
from reprise_vllm.reporting.pool_observer import PoolObserver
from reprise_vllm.reporting.step_report import StepReport, Stored
from reprise_vllm.reporting.watched_group import WatchedGroup

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock
    from vllm.v1.request import Request


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much of a request's prompt differs from full attention, in tokens."""

    exact: int
    """length of the prefix that full attention computed"""
    reused: int
    """taken from another position and not recomputed"""
    recomputed: int
    """reusable, but recomputed"""


class CacheWatcher:
    """
    Collects what a step evicts and stores, and reports it once per step.

    The pool itself is the source of truth: a hash is lost if no physical block has it at the end of the step. So
    duplicates, and blocks that are evicted and computed again within a step, need no counting. A fault in our code ends
    the reports, not the engine.
    """

    def __init__(self, pool: "BlockPool", group: WatchedGroup, sender: CallbackSender, logger: Logger) -> None:
        self._pool = pool
        self._group = group
        self._sender, self._logger = sender, logger
        self._facts: dict[str, Any] = {}
        self._has_ended = False
        self._observer = PoolObserver(pool, self._block_evicted, self._cleared)
        # keys of the blocks evicted in this step
        self._evicted: list[bytes] = []
        # requests whose full blocks are not all cached yet, with these blocks' hashes and what is reused
        self._prefilling: dict[str, tuple[Request, Sequence[bytes], Sequence[int]]] = {}
        # how many blocks were reported for each running request
        self._reported: dict[str, int] = {}

    @property
    def checkpoints(self) -> dict[str, Any] | None:
        """What snapshots tell of the layers whose checkpoints are reported."""
        return self._group.checkpoints

    @contained("scheduling")
    def scheduled(self, request: "Request", reuse: Reuse | None) -> None:
        """Blocks were allocated to the request, for the first time or again after a preemption."""
        if self._has_ended:
            return
        hashes = self._hashes_of(request, reuse)
        reused = () if reuse is None else (reuse.reused, reuse.recomputed)
        if hashes:
            self._prefilling[request.request_id] = request, hashes, reused
        elif reused:
            self._sender.report(StepReport(stored=[Stored(request.request_id, (), reused)]))

    @contained("a step")
    def end_step(self) -> None:
        """Reports what has changed since the last step."""
        if not self._evicted and not self._prefilling:
            return
        is_cached = self._pool.cached_block_hash_to_block.get_one_block
        lost: Sequence[bytes] = ()
        if self._evicted:
            lost = [key for key in self._evicted if is_cached(key) is None]
            self._evicted.clear()
        stored = self._take_stored(is_cached) if self._prefilling else ()
        if lost or stored:
            facts = len(lost) + sum(len(one.hashes) for one in stored)
            self._sender.report(StepReport(lost, stored), facts)

    @contained("the end of a request")
    def finished(self, request: "Request", reuse: Reuse | None) -> None:
        """
        Reports the final cached prefix of a request that has ended.

        Its output may have become cached. Its prompt may never have been cached.
        """
        if self._has_ended:
            return
        request_id = request.request_id
        self._prefilling.pop(request_id, None)
        reported = self._reported.pop(request_id, None)
        hashes = self._hashes_of(request, reuse)
        blocks = len(hashes)
        # other groups may have computed again what full attention held already
        has_sides = bool(self._group.sides)
        if blocks == reported and not has_sides:
            return
        # the token sampled last was never computed, so its block is not cached
        is_cached = self._pool.cached_block_hash_to_block.get_one_block
        while blocks and is_cached(self._group.key_of(hashes[blocks - 1])) is None:
            blocks -= 1
        if blocks != reported or has_sides:
            stored = self._stored(request, hashes[:blocks])
            self._sender.report(StepReport(stored=[stored]), blocks + 1)

    def describe(self, facts: dict[str, Any]) -> None:
        """Adds to the facts about the engine that snapshots carry."""
        self._facts = self._facts | facts
        self._sender.describe(self._facts)

    def end(self, *, wait: bool = True) -> None:
        """Detaches from the engine's pool, sends the remaining reports to the proxy and stops the heartbeats."""
        if not self._has_ended:
            self._has_ended = True
            self._observer.detach()
            self._evicted.clear()
            self._prefilling.clear()
            self._sender.close(wait=wait)

    def give_up(self, _: str) -> None:
        """Like `end`, but tells the proxy not to rely on earlier reports, and does not make the engine wait."""
        self._logger.exception("reprise: reporting ends because of a fault in the plugin; the engine goes on")
        self._sender.cleared()
        self.end(wait=False)

    def _hashes_of(self, request: "Request", reuse: Reuse | None) -> Sequence[bytes]:
        """Returns the hashes of the blocks that other requests could hit: those computed by full attention."""
        hashes = self._group.hashes_of(request)
        return hashes if reuse is None else hashes[: reuse.exact // self._group.block_size]

    def _take_stored(self, is_cached: Callable[[bytes], object]) -> list[Stored]:
        # if the last block is cached, all are
        key_of = self._group.key_of
        stored = [
            self._stored(request, hashes, reused)
            for request, hashes, reused in self._prefilling.values()
            if is_cached(key_of(hashes[-1])) is not None
        ]
        for one in stored:
            del self._prefilling[one.engine_id]
            self._reported[one.engine_id] = len(one.hashes)
        return stored

    def _stored(self, request: "Request", hashes: Sequence[bytes], reused: Sequence[int] = ()) -> Stored:
        is_cached = self._pool.cached_block_hash_to_block.get_one_block
        held = self._group.beside(request, len(hashes) * self._group.block_size, is_cached)
        return Stored(request.request_id, hashes, reused, held)

    def _block_evicted(self, block: "KVCacheBlock") -> None:
        key = block.block_hash
        if key is not None and not self._has_ended:
            self._evicted.append(key)

    def _cleared(self) -> None:
        self._reported.clear()
        self._sender.cleared()
