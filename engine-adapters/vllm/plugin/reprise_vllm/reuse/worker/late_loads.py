"""The loads that take several steps of the engine."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from reprise_reuse.device import Clock, SideStream
from reprise_reuse.rows.row_choice import OpenLoad


class LateLoads:
    """
    Open loads, oldest first. Their rows of host memory are copied to the pages beside what the engine computes.

    Until a copy is over, nobody but it may use the pages: the device does what follows `next` and `end` behind it.
    """

    def __init__(self, side: SideStream, ranks: int) -> None:
        self._side = side
        self._ranks = ranks
        self._open: deque[OpenLoad] = deque()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, opened: OpenLoad) -> None:
        self._open.append(opened)

    @contextmanager
    def copying(self, opened: OpenLoad, clock: Clock) -> Iterator[None]:
        """A context in which a load's rows of host memory are copied."""
        try:
            with self._side.behind(self._side.mark()), clock.phase("filling"):
                yield
        finally:
            opened.copied = self._side.launched

    def next(self) -> OpenLoad | None:
        """Returns the oldest load whose rows have been copied; of several ranks, that all take the same, the oldest."""
        for opened in self._open:
            if opened.copied is None or self._ranks > 1 or opened.copied.query():
                self._side.wait(opened.copied)
                return opened
        return None

    def end(self, opened: OpenLoad) -> None:
        """Closes a load: vLLM may have the pages."""
        self._side.wait(opened.copied)
        self._open.remove(opened)

    def of(self, request_id: str) -> list[OpenLoad]:
        """Returns a request's loads."""
        return [opened for opened in self._open if opened.load.request_id == request_id]
