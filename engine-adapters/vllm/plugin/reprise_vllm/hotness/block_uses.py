"""How often each block of tokens was asked for, those included that are not cached any more."""

from collections.abc import Hashable, Iterable


class BlockUses:
    """
    Counts requests by the hash of a block, which is of all tokens up to its end.

    Bounded: of two generations the older one is forgotten when the newer one is full.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._recent: dict[Hashable, int] = {}
        self._older: dict[Hashable, int] = {}

    def add(self, blocks: Iterable[Hashable]) -> None:
        """A request asked for these blocks, each of them once."""
        for block in blocks:
            uses = self.of(block) + 1
            if len(self._recent) >= self._capacity:
                self._older, self._recent = self._recent, {}
            self._recent[block] = uses

    def of(self, block: Hashable) -> int:
        """Returns 0 where nobody asked for it."""
        return self._recent.get(block) or self._older.get(block, 0)
