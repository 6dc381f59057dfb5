"""Token slots in a store of fixed size."""

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
