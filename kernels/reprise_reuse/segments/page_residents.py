"""Which segments have rows in which blocks of the engine's pages."""

import numpy as np


class PageResidents:
    """Names by block, so that it is known what a block that is handed out takes away."""

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._names: dict[int, dict[int, None]] = {}

    def enter(self, name: int, pages: np.ndarray) -> None:
        """The segment's rows lie in these slots of the engine's cache, int64 [n]."""
        for block in self._blocks(pages):
            self._names.setdefault(block, {})[name] = None

    def leave(self, name: int, pages: np.ndarray) -> None:
        """They lie there no more."""
        for block in self._blocks(pages):
            names = self._names[block]
            del names[name]
            if not names:
                del self._names[block]

    def of(self, block: int) -> list[int]:
        """The segments that have rows in this block."""
        return list(self._names.get(block, ()))

    def _blocks(self, pages: np.ndarray) -> list[int]:
        return np.unique(pages // self._block_size).tolist()
