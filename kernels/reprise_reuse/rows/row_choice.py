"""Decides which rows of a load to compute: those that no segment holds, and those that its method chooses.

How many they are is known beforehand, so nothing waits for the device.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from reprise_reuse.device import DeviceFlags, to_device
from reprise_reuse.methods import METHODS, Evidence, choose
from reprise_reuse.pieces import Load, Piece, as_blocks, cache_slots
from reprise_reuse.rows.evidence import PromptPages, attention_of_questions
from reprise_reuse.rows.stored_rows import StoredRows, changed_parts


@dataclass
class OpenLoad:
    """A load whose pages are filled, with rows that still have to be computed."""

    load: Load
    slots: np.ndarray
    """int64 [end]: where its rows are in the engine's cache, in the first group of layers"""
    device: torch.device
    spread: np.ndarray | None = None
    """float32 [end]: how much a row's values vary over its segment's contexts"""
    changed: DeviceFlags | None = None
    """which rows of its pieces in pages, one piece after the other, were not what was stored"""
    copied: "torch.cuda.Event | None" = None
    """when rows of host memory, copied beside what the engine computes, are in the pages; None: no such copy"""
    has_failed: bool = False
    """the engine computes its rows. On several ranks all rows are computed nevertheless, since other ranks wait"""
    rows: torch.Tensor | None = None
    """int64 [n], ascending: still to be computed; None: not chosen yet"""

    @staticmethod
    def of(load: Load, block_size: int, device: torch.device) -> "OpenLoad":
        """Returns a load of which nothing is filled."""
        return OpenLoad(load, cache_slots(load.blocks[0], load.end, block_size), device)

    @cached_property
    def tokens(self) -> torch.Tensor:
        """int32 [n], on the device: the prompt's"""
        return to_device(self.load.tokens, self.device)

    @cached_property
    def blocks(self) -> torch.Tensor:
        """int64 [groups, m], on the device: the request's"""
        return as_blocks(self.load.blocks, self.device)

    @cached_property
    def device_slots(self) -> torch.Tensor:
        """`slots` on the device"""
        return to_device(self.slots, self.device)

    @cached_property
    def known(self) -> np.ndarray:
        """bool [end]: rows whose pages are filled"""
        known = np.zeros(self.load.end, bool)
        known[: self.load.begin] = True
        for piece in self.load.pieces:
            known[piece.start : piece.end] = True
        return known

    @cached_property
    def free(self) -> np.ndarray:
        """int64 [m], ascending: rows of segments computed after other tokens, so they may be recomputed"""
        inexact = [piece for piece in self.load.pieces if not piece.is_exact]
        return np.concatenate([np.arange(0), *(np.arange(piece.start, piece.end) for piece in inexact)])

    @property
    def in_pages(self) -> list[Piece]:
        """The pieces that are stored in the engine's own pages."""
        return [piece for piece in self.load.pieces if piece.pages is not None]

    @property
    def gaps(self) -> np.ndarray:
        """int64 [m], ascending: rows that no segment holds"""
        return np.flatnonzero(~self.known)

    @property
    def offset(self) -> np.ndarray:
        """float32 [end]: a row's distance from the start of its segment"""
        offset = np.zeros(self.load.end, np.float32)
        for piece in self.load.pieces:
            offset[piece.start : piece.end] = np.arange(piece.end - piece.start)
        return offset

    def fill(self, stored: StoredRows, beside: Callable[[], AbstractContextManager[None]] | None = None) -> set[int]:
        """Fills its pages. Returns the owners of pieces that host memory holds no longer: then nothing is filled.

        beside  makes a context in which rows of host memory are copied while the device computes
        """
        lost = {piece.owner for piece in stored.lost(self.load)}
        if not lost:
            self.spread = stored.spread(self.load)
            if self.in_pages:
                self.changed = stored.changed(np.concatenate([piece.pages for piece in self.in_pages]))
            stored.fill(self.load, beside)
        return lost

    def changed_owners(self) -> set[int]:
        """Returns the owners of pieces whose pages had changed before they were read; waits for the device."""
        return set() if self.changed is None else {one.owner for one in changed_parts(self.in_pages, self.changed)}

    def take(self, count: int) -> None:
        """Decides to compute the first `count` rows that may be recomputed, and all that no segment holds."""
        rows = np.sort(np.concatenate((self.gaps, self.free[:count])))
        self.rows = to_device(rows, self.device)


def choose_rows(prompt: PromptPages, opened: Sequence[OpenLoad]) -> None:
    """Decides which rows of loads to compute; all questions are asked in one pass."""
    asking = []
    for one in opened:
        if 0 < one.load.budget < len(one.free):
            asking.append(one)
        else:
            one.take(one.load.budget)
    if not asking:
        return
    lengths = [one.load.end for one in asking]
    own = to_device(np.concatenate([one.spread for one in asking]), asking[0].device)
    # over the heads of all tensor-parallel ranks
    spreads = (own if prompt.ranks == 1 else prompt.sum_over_ranks(own.square()).sqrt()).split(lengths)
    questions = [one for one in asking if METHODS[one.load.method].reads_question]
    attention = dict(zip(map(id, questions), attention_of_questions(prompt, questions), strict=True))
    for one, spread in zip(asking, spreads, strict=True):
        load, method = one.load, METHODS[one.load.method]
        offset = to_device(one.offset, one.device)
        evidence = Evidence(attention.get(id(one)), spread, offset, seed=load.end)
        if method.gather:
            evidence = replace(evidence, more=method.gather(prompt, one, evidence))
        free, gaps = to_device(np.concatenate((one.free, one.gaps)), one.device).split(
            [len(one.free), load.end - int(one.known.sum())]
        )
        one.rows = torch.cat((gaps, choose(method.score(evidence), free, load.budget))).sort().values
