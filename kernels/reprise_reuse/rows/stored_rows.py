"""The stored rows of segments, in host memory or in the engine's own pages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from reprise_reuse.device import DeviceFlags, to_device
from reprise_reuse.host_store import HostStore, KeysAndValues, Rows
from reprise_reuse.pieces import GroupBlocks, Load, Move, Piece, Save, as_blocks, cache_slots, slots_of
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows.engine_parts import Layout, fingerprints
from reprise_reuse.rows.fill_kernel import FillKernel


class StoredRows:
    """
    Reads and writes rows that prompts share.

    Host memory records the owner and token of each slot. For the engine's pages, only the scheduler's side knows when
    they are handed out. So before a row in pages is used, the bits of its last layer's keys, which depend on everything
    before it, are compared with what they were when it was computed. This way no row is mistaken for another.
    """

    def __init__(
        self, layers: Sequence[Any], caches: Sequence[torch.Tensor], layout: Layout, blocks: int,
        rotation: KeyRotation, store: HostStore, groups: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """layers, caches: the attention layers and their pages, `blocks` blocks each; groups: whose blocks each layer
        uses, by default all the same."""
        self._layers = layers
        self._caches = caches
        self._groups = groups or [0] * len(caches)
        self._layout = layout
        self._block_size = layout.block_size
        self._device = caches[0].device
        self.rotation = rotation
        """what turns keys to other positions"""
        self.kernel: FillKernel | None = None
        """what fills rows of all layers at once; None: the engine's operations do it, layer by layer"""
        self._store = store
        self._stored_keys = torch.zeros(blocks * layout.block_size, dtype=torch.int64, device=self._device)

    def lost(self, load: Load) -> list[Piece]:
        """Returns the pieces of a load whose slots of host memory hold something else by now."""
        return [
            piece
            for piece in load.pieces
            if piece.pages is None
            and not self._store.holds(piece.slots, piece.owner, load.tokens[piece.start : piece.end])
        ]

    def changed(self, pages: np.ndarray) -> DeviceFlags:
        """Returns which of these slots of the engine's cache (int64 [n]) no longer hold what was stored there."""
        slots = to_device(pages, self._device)
        keys = self._layout.keys_of_slots(self._caches[-1], slots)
        return DeviceFlags(fingerprints(keys) != self._stored_keys[slots])

    def spread(self, load: Load) -> np.ndarray:
        """Returns how much each row's values vary over its contexts; float32 [end]."""
        spread = np.zeros(load.end, np.float32)
        # rows in pages were computed in a single context
        for rows, slots in ((slice(one.start, one.end), one.slots) for one in load.pieces if one.pages is None):
            spread[rows] = self._store.spread(slots)
        return spread

    def fill(self, load: Load, beside: Callable[[], AbstractContextManager[None]] | None = None) -> None:
        """Writes the rows of a load's pieces to its pages, rotating keys to their new positions.

        beside  makes a context in which those of host memory are copied while the device computes
        """
        on_host = [piece for piece in load.pieces if piece.pages is None]
        in_pages = [piece for piece in load.pieces if piece.pages is not None]
        kernel, to = self.kernel, cache_slots(load.blocks[0], load.end, self._block_size)
        # the pages that a load takes over may be those that it reads: then nothing may be written before all is read
        if in_pages and kernel is not None and not self._overlap(in_pages, load):
            kernel.copy_pages(*self._way(in_pages, to))
        elif in_pages:
            self.copy_to(load.blocks, in_pages)
        if not on_host:
            return
        with nullcontext() if beside is None else beside():
            if kernel is not None and kernel.reads_host_memory:
                kernel.copy_from_host(*self._way(on_host, to), is_beside=beside is not None)
            else:
                self.copy_to(load.blocks, on_host)

    def _way(self, pieces: Sequence[Piece], to: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns from which slots the rows of pieces come, to which of `to` they go, and how far their keys move."""
        rows = _rows_of(pieces)
        return _places_of(pieces), to[rows], rows - self._computed_at(pieces)

    def _computed_at(self, pieces: Sequence[Piece]) -> np.ndarray:
        """Returns the positions where the rows of pieces were computed; int64 [n]."""
        positions = self._store.positions.numpy()
        every = [
            positions[piece.slots] if piece.pages is None else np.arange(len(piece.pages)) + piece.position
            for piece in pieces
        ]
        return np.concatenate(every).astype(np.int64)

    def _overlap(self, pieces: Sequence[Piece], load: Load) -> bool:
        read = _joined([piece.pages for piece in pieces]) // self._block_size
        return bool(np.isin(load.blocks[0][load.begin // self._block_size :], read).any())

    def copy_to(self, blocks: GroupBlocks, pieces: Sequence[Piece]) -> None:
        """Writes rows, all in pages or all in host memory, to the pages of a request with these blocks.

        Does so layer by layer, by torch's operations: all rows of a layer are read before any of it is written. Where a
        layer has no block any more, nothing is.
        """
        for group, own in enumerate(blocks):
            held = [part for piece in pieces for part in parts_with_blocks(piece, own, self._block_size)]
            if held:
                self._copy_to_group(group, own, held)

    def _copy_to_group(self, group: int, blocks: Sequence[int], pieces: Sequence[Piece]) -> None:
        rows, places = _rows_of(pieces), _places_of(pieces)
        in_pages = None if pieces[0].pages is None else to_device(places, self._device)
        distances = rows - self._computed_at(pieces)
        turn = self.rotation.turning(to_device(distances, self._device)) if distances.any() else None
        at = slots_of(as_blocks(blocks, self._device), to_device(rows, self._device), self._block_size)
        for index, (layer, cache, of) in enumerate(zip(self._layers, self._caches, self._groups, strict=True)):
            if of != group:
                continue
            if in_pages is None:
                keys, values = self._store.get(index, torch.from_numpy(places), self._device)
            else:
                keys, values = self._layout.read_slots(cache, in_pages)
            if turn is not None:
                keys = turn(index, keys)
            layer.impl.do_kv_cache_update(layer, keys, values, cache, at)

    def fill_pages(self, index: int, blocks: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Writes rows [n, heads, head size] to one layer's pages of these blocks (int64 [m]), from the first on."""
        layer, cache = self._layers[index], self._caches[index]
        at = slots_of(blocks, torch.arange(len(keys), device=self._device), self._block_size)
        layer.impl.do_kv_cache_update(layer, keys, values, cache, at)

    def move(self, moves: Sequence[Move]) -> None:
        """Copies segments' rows from pages to host memory. If several moves target a slot, the last one wins.

        Works layer by layer, so that data is written while the processor's cache still holds it.
        """
        slots, staying = self._take_slots(moves)
        pages = self._pages_of(moves)[to_device(staying.numpy(), self._device)]
        self._put(slots, (self._layout.read_slots(cache, pages) for cache in self._caches))

    def read(self, moves: Sequence[Move]) -> Rows:
        """Returns all rows that `move` would write, one segment after the other, for `put` to write later."""
        pages = self._pages_of(moves)
        return [self._layout.read_slots(cache, pages) for cache in self._caches]

    def put(self, moves: Sequence[Move], rows: Rows) -> None:
        """Writes what `read` returned for these moves, as `move` does."""
        slots, staying = self._take_slots(moves)
        staying = to_device(staying.numpy(), self._device)
        self._put(slots, ((keys[staying], values[staying]) for keys, values in rows))

    def save(self, save: Save) -> None:
        """Stores computed rows of a request: copies them to host memory, or records fingerprints of their pages."""
        in_pages = [piece.pages for piece in save.pieces if piece.pages is not None]
        if in_pages:
            slots = to_device(_joined(in_pages), self._device)
            keys = self._layout.keys_of_slots(self._caches[-1], slots)
            self._stored_keys[slots] = fingerprints(keys)
        pieces = [piece for piece in save.pieces if piece.pages is None]
        if pieces:
            self._copy_to_host(save, pieces)

    def _pages_of(self, moves: Sequence[Move]) -> torch.Tensor:
        return to_device(_joined([move.pages for move in moves]), self._device)

    def _take_slots(self, moves: Sequence[Move]) -> tuple[torch.Tensor, torch.Tensor]:
        """Assigns each slot to the last move that targets it. Returns the slots of the rows kept, and their indices."""
        for move in moves:
            positions = torch.arange(move.position, move.position + len(move.slots), dtype=torch.int32)
            self._store.begin(torch.from_numpy(move.slots), move.owner, torch.from_numpy(move.tokens), positions)
        slots = torch.from_numpy(_joined([move.slots for move in moves]))
        owners = torch.from_numpy(np.repeat([move.owner for move in moves], [len(move.slots) for move in moves]))
        staying = (self._store.owners[slots] == owners).nonzero()[:, 0]
        return slots[staying], staying

    def _copy_to_host(self, save: Save, pieces: Sequence[Piece]) -> None:
        blocks = as_blocks(save.blocks, self._device)
        new = [piece for piece in pieces if not piece.is_average]
        if new:
            slots, rows = torch.from_numpy(_joined([piece.slots for piece in new])), _rows_of(new)
            owners = np.repeat([piece.owner for piece in new], [len(piece.slots) for piece in new])
            tokens, positions = save.tokens[rows], rows.astype(np.int32)
            self._store.begin(slots, *(torch.from_numpy(one) for one in (owners, tokens, positions)))
            self._put(slots, self._read(blocks, rows))
        # a segment that the prompt repeats has one more context with each repetition
        for group in _without_repetition([piece for piece in pieces if self._is_averaged(piece, save)]):
            positions = _rows_of(group)
            slots = torch.from_numpy(_joined([piece.slots for piece in group]))
            as_one = [piece.slots for piece in group if piece.is_held_as_one]
            self._store.count_as_one(torch.from_numpy(_joined(as_one)))
            self._store.average(slots, torch.from_numpy(positions), self._read(blocks, positions))

    def _put(self, slots: torch.Tensor, rows: Iterable[KeysAndValues]) -> None:
        """Writes rows of one layer after the other to slots of host memory."""
        for index, (keys, values) in enumerate(rows):
            self._store.put(index, slots, keys, values)

    def _read(self, blocks: torch.Tensor, rows: np.ndarray) -> Iterator[KeysAndValues]:
        """Yields each layer's keys and values of a request's rows (int64 [n]), given its blocks (int64 [groups, m])."""
        rows = to_device(rows, self._device)
        at = [slots_of(own, rows, self._block_size) for own in blocks.unbind()]
        for cache, group in zip(self._caches, self._groups, strict=True):
            yield self._layout.read_slots(cache, at[group])

    def _is_averaged(self, piece: Piece, save: Save) -> bool:
        return piece.is_average and self._store.holds(piece.slots, piece.owner, save.tokens[piece.start : piece.end])


def parts_with_blocks(piece: Piece, blocks: Sequence[int], block_size: int) -> Iterator[Piece]:
    """Yields the parts of a piece for whose rows there are blocks."""
    is_held = np.asarray(blocks)[np.arange(piece.start, piece.end) // block_size] != 0
    if is_held.all():
        yield piece
        return
    borders = piece.start + np.flatnonzero(np.diff(is_held, prepend=False, append=False))
    for start, end in borders.reshape(-1, 2).tolist():
        yield _cut(piece, start, end)


def _cut(piece: Piece, start: int, end: int) -> Piece:
    part = slice(start - piece.start, end - piece.start)
    return replace(
        piece, start=start, end=end, slots=None if piece.slots is None else piece.slots[part],
        pages=None if piece.pages is None else piece.pages[part], position=piece.position + part.start,
    )  # fmt: skip


def changed_parts(parts: Sequence[Any], changed: DeviceFlags) -> list[Any]:
    """Returns the pieces or moves that have changed, of those whose pages were looked at one after the other."""
    ends = np.cumsum([len(part.pages) for part in parts])
    return [part for part, flags in zip(parts, np.split(changed.read(), ends[:-1]), strict=True) if flags.any()]


def _rows_of(pieces: Sequence[Piece]) -> np.ndarray:
    return np.concatenate([np.arange(piece.start, piece.end) for piece in pieces])


def _places_of(pieces: Sequence[Piece]) -> np.ndarray:
    """Returns the slots of pieces that are all in pages, or all in host memory."""
    return np.concatenate([piece.slots if piece.pages is None else piece.pages for piece in pieces])


def _joined(places: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(places) if places else np.empty(0, np.int64)


def _without_repetition(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yields pieces in groups, in order, so that no slot is twice in one."""
    group: list[Piece] = []
    seen: set[int] = set()
    for piece in pieces:
        slots = piece.slots.tolist()
        if not seen.isdisjoint(slots):
            yield group
            group, seen = [], set()
        group.append(piece)
        seen.update(slots)
    if group:
        yield group
