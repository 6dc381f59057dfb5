"""Places for tokens in a store of fixed size."""

import numpy as np


class Slots:
    """Hands out slot numbers 0 … capacity - 1, lowest first, so that what is stored together lies together."""

    def __init__(self, capacity: int) -> None:
        self._free = np.arange(capacity - 1, -1, -1, dtype=np.int64)
        self._count = capacity
        self.capacity = capacity

    @property
    def free(self) -> int:
        return self._count

    def take(self, count: int) -> np.ndarray:
        """Returns `count` free slots; there must be as many."""
        if count > self._count:
            raise ValueError(f"{count} slots are wanted and {self._count} are free")
        self._count -= count
        return self._free[self._count : self._count + count][::-1].copy()

    def give_back(self, slots: np.ndarray) -> None:
        """These are free again."""
        self._free[self._count : self._count + len(slots)] = slots[::-1]
        self._count += len(slots)
