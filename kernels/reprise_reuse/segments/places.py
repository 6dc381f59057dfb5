"""Where segments' rows are: in slots of a store of fixed size, and in blocks of the engine's pages."""

import numpy as np


class Slots:
    """Hands out slot numbers 0 … capacity - 1, lowest first, so that tokens stored together stay together."""

    def __init__(self, capacity: int) -> None:
        self._free = np.arange(capacity - 1, -1, -1, dtype=np.int64)
        self._count = capacity
        self.capacity = capacity

    @property
    def free(self) -> int:
        return self._count

    def take(self, count: int) -> np.ndarray:
        """Returns `count` free slots. Raises ValueError if there are not enough."""
        if count > self._count:
            raise ValueError(f"{count} slots are wanted and {self._count} are free")
        self._count -= count
        return self._free[self._count : self._count + count][::-1].copy()

    def give_back(self, slots: np.ndarray) -> None:
        """Frees these slots."""
        self._free[self._count : self._count + len(slots)] = slots[::-1]
        self._count += len(slots)


class PageResidents:
    """Segment names by block: shows which segments lose rows when a block is reallocated."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._names: dict[int, dict[int, None]] = {}

    def enter(self, name: int, pages: np.ndarray) -> None:
        """Records that the segment's rows are in these slots of the engine's cache, int64 [n]."""
        for block in self._blocks(pages):
            self._names.setdefault(block, {})[name] = None

    def leave(self, name: int, pages: np.ndarray) -> None:
        """Records that they no longer are."""
        for block in self._blocks(pages):
            names = self._names[block]
            del names[name]
            if not names:
                del self._names[block]

    def of(self, block: int) -> list[int]:
        """Returns the segments with rows in this block."""
        return list(self._names.get(block, ()))

    def _blocks(self, pages: np.ndarray) -> list[int]:
        return np.unique(pages // self._block_size).tolist()
