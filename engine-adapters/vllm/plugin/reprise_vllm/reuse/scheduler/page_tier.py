"""The scheduler's side of segments that are kept in the engine's own pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reprise_reuse.pieces import Move
from reprise_reuse.rows.cache_slots import cache_slots
from reprise_reuse.segments import Catalogue, Segment
from reprise_vllm.reporting.pool_observer import PoolObserver

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock


class PageTier:
    """
    Leaves new segments in the pages where their request computed them, until the block pool hands these pages out.

    Then the segments are copied to host memory before the step's forward overwrites the pages, or dropped if there is
    no room. So nothing is copied while it is still in the pages, and each segment is stored in one place.
    """

    def __init__(self, catalogue: Catalogue, block_size: int) -> None:
        self._catalogue = catalogue
        self._block_size = block_size
        self._is_watching = False
        # segments whose pages have been handed out since the last step
        self._leaving: list[tuple[Segment, np.ndarray]] = []
        self._moves: list[Move] = []

    def watch(self, pool: "BlockPool") -> None:
        """Keeps segments in pages from now on, if the pool caches prefixes and so reports when it hands pages out."""
        if pool.enable_caching and not self._is_watching:
            PoolObserver(pool, self._block_evicted, self._reset)
            self._is_watching = True

    def pages_of(self, blocks: Sequence[int], length: int) -> np.ndarray:
        """Returns the engine's cache slots that keep holding a prompt of `length` tokens: of full blocks, or none.

        A block that is not full has no hash and is handed out first.
        """
        size = self._block_size
        return cache_slots(blocks, length // size * size if self._is_watching else 0, size)

    def bring(self, segment: Segment) -> bool:
        """Schedules a copy of a segment from its pages to host memory. Returns False if there is no room."""
        return self._bring(segment, segment.pages)

    def take_moves(self) -> list[Move]:
        """Returns what workers must copy before the step's forward overwrites the pages that were handed out."""
        leaving, self._leaving = self._leaving, []
        for segment, pages in leaving:
            is_held = self._catalogue.get(segment.name) is segment
            if is_held and not self._bring(segment, pages):
                self._catalogue.drop(segment)
        moves, self._moves = self._moves, []
        return moves

    def _bring(self, segment: Segment, pages: np.ndarray) -> bool:
        if not self._catalogue.bring(segment):
            return False
        self._moves.append(Move(segment.tokens, pages, segment.slots, segment.position, segment.owner))
        return True

    def _block_evicted(self, block: "KVCacheBlock") -> None:
        self._leaving += self._catalogue.vacate(block.block_id)

    def _reset(self) -> None:
        for segment, _ in self._leaving:
            self._catalogue.drop(segment)
        self._leaving.clear()
        self._catalogue.vacate_all()
