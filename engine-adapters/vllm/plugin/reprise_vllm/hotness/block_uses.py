"""Counts how often each block of tokens was requested, including blocks that are no longer cached."""

from collections.abc import Hashable, Iterable


class BlockUses:
    """
    Counts requests by block hash, which covers all tokens up to the block's end.

    Memory is bounded: there are two generations, and the older one is dropped when the newer one is full.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._recent: dict[Hashable, int] = {}
        self._older: dict[Hashable, int] = {}

    def add(self, blocks: Iterable[Hashable]) -> None:
        """Counts one request for each of these blocks."""
        for block in blocks:
            uses = self.of(block) + 1
            if len(self._recent) >= self._capacity:
                self._older, self._recent = self._recent, {}
            self._recent[block] = uses

    def of(self, block: Hashable) -> int:
        """Returns how often the block was requested; 0 if never."""
        return self._recent.get(block) or self._older.get(block, 0)
