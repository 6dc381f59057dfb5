"""Moves segments' rows from the engine's pages, which are or will be overwritten, to host memory."""

from collections.abc import Sequence

import numpy as np
import torch

from reprise_reuse.device import DeviceFlags, SideStream
from reprise_reuse.host_store import Rows
from reprise_reuse.pieces import Move, meet
from reprise_reuse.rows.stored_rows import StoredRows, changed_parts
from reprise_vllm.reuse.messages import ReuseStep


class MovingRows:
    """
    The moves of a step: rows are read before its loads are filled, and written when these have read their slots.

    Copies of rows that stay for now are made beside the step's forward, and are over before the next one.
    """

    def __init__(self, stored: StoredRows, side: SideStream) -> None:
        self._stored = stored
        self._side = side
        self._begun: torch.cuda.Event | None = None
        self._read: tuple[Sequence[Move], Rows] | None = None
        self._moved: list[tuple[Sequence[Move], DeviceFlags]] = []

    def begin(self, step: ReuseStep) -> None:
        """Reads rows, and writes them unless a load of the step reads the slots that they go to."""
        # the step's forward may overwrite what the copies of the one before read
        self._side.wait(self._side.launched)
        self._begun = self._side.mark() if step.copies else None
        if not step.moves:
            return
        self._moved.append((step.moves, self._stored.changed(np.concatenate([move.pages for move in step.moves]))))
        if meet(step.moves, step.loads):
            self._read = step.moves, self._stored.read(step.moves)
        else:
            self._stored.move(step.moves)

    @property
    def left(self) -> Sequence[Move]:
        """The moves that are not written yet."""
        return self._read[0] if self._read is not None else ()

    def finish(self) -> None:
        """Writes what `begin` has only read."""
        read, self._read = self._read, None
        if read is not None:
            self._stored.put(*read)

    def copy(self, copies: Sequence[Move]) -> None:
        """Makes copies, behind all that was launched before `begin` but beside the step's forward."""
        if copies:
            with self._side.behind(self._begun):
                self._moved.append((copies, self._stored.changed(np.concatenate([one.pages for one in copies]))))
                self._stored.move(copies)

    def take_changed(self) -> list[Move]:
        """Returns the moves and copies since the last call whose pages no longer held what was stored; waits for the
        device."""
        moved, self._moved = self._moved, []
        return [move for moves, changed in moved for move in changed_parts(moves, changed)]
