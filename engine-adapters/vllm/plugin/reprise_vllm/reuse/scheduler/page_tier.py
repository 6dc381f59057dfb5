"""The scheduler's side of segments that are kept in the engine's own pages."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from reprise_reuse.pieces import Move, cache_slots
from reprise_reuse.segments import Catalogue, Segment
from reprise_vllm.engine.contained import contained
from reprise_vllm.reporting.pool_observer import PoolObserver

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_utils import KVCacheBlock

_SMALL = 0.25
"""share of the pages' tokens: with less host memory, what no prompt has repeated in time displaces what one has"""
_PARTS = 8


class PageTier:
    """
    Leaves new segments in the pages where their request computed them, until the block pool hands these pages out.

    Then the segments are copied to host memory before the step's forward overwrites the pages, or dropped if there is
    no room. On a GPU, those that will be next are copied before, beside the forward of a step that leaves them alone.
    Host memory that is small beside the pages gets only segments that a prompt has repeated.
    """

    def __init__(
        self, catalogue: Catalogue, block_size: int, blocks: int, looks_ahead: int, give_up: Callable[[str], None]
    ) -> None:
        """blocks: of all pages; looks_ahead: how many of those that are next are copied before; give_up: ends reuse
        after a fault."""
        self._catalogue = catalogue
        self._block_size = block_size
        self._takes_all = catalogue.capacity >= _SMALL * blocks * block_size
        self._looks_ahead, self.give_up = looks_ahead, give_up
        self._pool: BlockPool | None = None
        # blocks handed out since all segments that are next were copied
        self._handed_out = 0
        # segments whose pages have been handed out since the last step
        self._leaving: list[tuple[Segment, np.ndarray]] = []
        self._moves: list[Move] = []

    def watch(self, pool: "BlockPool") -> None:
        """Keeps segments in pages from now on, if the pool caches prefixes and so reports when it hands pages out."""
        if pool.enable_caching and self._pool is None:
            PoolObserver(pool, self._block_evicted, self._reset)
            self._pool = pool

    def pages_of(self, blocks: Sequence[int], length: int) -> np.ndarray:
        """Returns the engine's cache slots that keep holding a prompt of `length` tokens: of full blocks, or none.

        A block that is not full has no hash and is handed out first.
        """
        size = self._block_size
        return cache_slots(blocks, length // size * size if self._pool is not None else 0, size)

    def bring(self, segment: Segment, pages: np.ndarray | None = None) -> bool:
        """Schedules a copy of a segment from its pages to host memory. Returns False if there is no room.

        pages  those that it has just left; None: it is still there
        """
        pages, is_copied = segment.pages if pages is None else pages, segment.slots is not None
        if not self._catalogue.bring(segment):
            return False
        if not is_copied:
            self._moves.append(_move_of(segment, pages))
        return True

    def take_moves(self) -> list[Move]:
        """Returns what workers must copy before the step's forward overwrites the pages that were handed out."""
        leaving, self._leaving = self._leaving, []
        for segment, pages in leaving:
            is_only_there = segment.slots is None and self._catalogue.get(segment.name) is segment
            if is_only_there and not (self._is_taken(segment) and self.bring(segment, pages)):
                self._catalogue.drop(segment)
        moves, self._moves = self._moves, []
        return moves

    def copy_ahead(self, rows: float) -> list[Move]:
        """Returns copies of about so many rows at most, of segments whose pages will be handed out next.

        Nobody writes these pages in the step that is scheduled.
        """
        # so that the list of free blocks is not read again for every block
        if not rows or self._handed_out <= self._looks_ahead // _PARTS:
            return []
        copies = []
        for block in next_blocks(self._pool, self._looks_ahead):
            for segment in self._catalogue.residents(block):
                if segment.slots is not None or not self._is_taken(segment):
                    continue
                if rows <= 0:
                    return copies
                if self._catalogue.copy(segment):
                    rows -= len(segment)
                    copies.append(_move_of(segment, segment.pages))
        self._handed_out = 0
        return copies

    def _is_taken(self, segment: Segment) -> bool:
        return self._takes_all or self._catalogue.is_repeated(segment)

    @contained("following the pages")
    def _block_evicted(self, block: "KVCacheBlock") -> None:
        self._handed_out += 1
        self._leaving += self._catalogue.vacate(block.block_id)

    @contained("following the pages")
    def _reset(self) -> None:
        for segment in [one for one, _ in self._leaving if one.slots is None]:
            self._catalogue.drop(segment)
        self._leaving.clear()
        self._catalogue.vacate_all()


def next_blocks(pool: "BlockPool | None", count: int) -> Iterator[int]:
    """Returns the ids of the free blocks that vLLM hands out next, `count` at most; none without a pool."""
    free = () if pool is None else pool.free_block_queue.iter_blocks_after(None)
    return (block.block_id for block in islice(free, count))


def _move_of(segment: Segment, pages: np.ndarray) -> Move:
    return Move(segment.tokens, pages, segment.slots, segment.position, segment.owner)
