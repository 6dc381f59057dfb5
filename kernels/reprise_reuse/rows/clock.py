"""How long the phases of loads take on the device."""

import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

PHASES = ("filling", "question", "rows")


class Clock:
    """Adds up seconds by phase. On a GPU, events are read once they have happened, so nothing waits for them."""

    def __init__(self, device: torch.device) -> None:
        self._is_on_gpu = device.type == "cuda"
        self._taken: Counter[str] = Counter()
        self._open: deque[tuple[str, Any, Any]] = deque()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measures its body as a part of a phase, a name in `PHASES`."""
        if not self._is_on_gpu:
            began = time.perf_counter()
            yield
            self._taken[name] += time.perf_counter() - began
            return
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        yield
        end.record()
        self._open.append((name, start, end))

    def take(self) -> Counter[str]:
        """Returns the seconds of phases that have ended on the device since the last call."""
        while self._open and self._open[0][2].query():
            name, start, end = self._open.popleft()
            self._taken[name] += start.elapsed_time(end) / 1000
        taken, self._taken = self._taken, Counter()
        return taken
