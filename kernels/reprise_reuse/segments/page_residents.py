"""Which segments have rows in which blocks of the engine's pages."""

import numpy as np


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
