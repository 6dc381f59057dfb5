"""The stored rows of segments, in host memory or in the engine's own pages."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reprise_reuse.host_store import HostStore, Rows
from reprise_reuse.rotation import KeyRotation
from reprise_vllm.engine.cache_slots import as_blocks, slots_of
from reprise_vllm.engine.page_layout import PageLayout, fingerprints
from reprise_vllm.reuse.messages import Move, Piece, Save


class StoredRows:
    """
    Reads and writes rows that prompts share.

    Host memory records the owner and token of each slot. For the engine's pages, only the scheduler's side knows when
    they are handed out. So before a row in pages is used, the bits of its last layer's keys, which depend on everything
    before it, are compared with what they were when it was computed. This way no row is mistaken for another.
    """

    def __init__(
        self, layers: Sequence[Any], caches: Sequence[torch.Tensor], layout: PageLayout, blocks: int,
        rotation: KeyRotation, store: HostStore,
    ) -> None:  # fmt: skip
        """layers, caches: the attention layers and their pages, `blocks` blocks each."""
        self._layers = layers
        self._caches = caches
        self._layout = layout
        self._block_size = layout.block_size
        self._device = caches[0].device
        self.rotation = rotation
        """what turns keys to other positions"""
        self._store = store
        self._stored_keys = torch.zeros(blocks * layout.block_size, dtype=torch.int64, device=self._device)

    def holds(self, piece: Piece, tokens: np.ndarray) -> bool:
        """Whether the rows of these tokens (int32 [n]) are still what was stored. Check this before using them."""
        if piece.pages is None:
            return self._store.holds(torch.from_numpy(piece.slots), piece.owner, torch.from_numpy(tokens))
        return self.are_unchanged(piece.pages)

    def are_unchanged(self, pages: np.ndarray) -> bool:
        """Whether these slots of the engine's cache (int64 [n]) still hold what was stored there."""
        slots = torch.from_numpy(pages).to(self._device)
        keys, _ = self._layout.read_slots(self._caches[-1], slots)
        return torch.equal(fingerprints(keys), self._stored_keys[slots])

    def spread(self, piece: Piece) -> torch.Tensor:
        """Returns how much each row's values vary over its contexts; float32 [n]."""
        if piece.pages is None:
            return self._store.spread(torch.from_numpy(piece.slots))
        # rows in pages were computed in a single context
        return torch.zeros(piece.end - piece.start)

    def copy_to(self, blocks: torch.Tensor, pieces: Sequence[Piece]) -> None:
        """Writes rows to the pages of a request with these blocks (int64 [m]), rotating keys to their new positions."""
        on_host = [piece for piece in pieces if piece.pages is None]
        in_pages = [piece for piece in pieces if piece.pages is not None]
        rows = torch.cat([torch.arange(piece.start, piece.end) for piece in (*on_host, *in_pages)])
        slots = torch.from_numpy(_joined([piece.slots for piece in on_host]))
        pages = torch.from_numpy(_joined([piece.pages for piece in in_pages])).to(self._device)
        computed_at = [torch.arange(piece.position, piece.position + len(piece.pages)) for piece in in_pages]
        distances = rows - torch.cat([self._store.positions[slots], *computed_at])
        moves = bool(distances.any())
        tables = self.rotation.tables(distances.to(self._device)) if moves else None
        at = slots_of(blocks, rows.to(self._device), self._block_size)
        for index, (layer, cache) in enumerate(zip(self._layers, self._caches, strict=True)):
            parts = []
            if on_host:
                parts.append(self._store.get(index, slots, self._device))
            if in_pages:
                parts.append(self._layout.read_slots(cache, pages))
            keys, values = parts[0] if len(parts) == 1 else map(torch.cat, zip(*parts, strict=True))
            if tables is not None:
                keys = self.rotation.turn(keys, tables)
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
        pages = self._pages_of(moves)[staying.to(self._device)]
        for index, cache in enumerate(self._caches):
            self._store.put(index, slots, *self._layout.read_slots(cache, pages))

    def read(self, moves: Sequence[Move]) -> Rows:
        """Returns all rows that `move` would write, one segment after the other, for `put` to write later."""
        pages = self._pages_of(moves)
        return [self._layout.read_slots(cache, pages) for cache in self._caches]

    def put(self, moves: Sequence[Move], rows: Rows) -> None:
        """Writes what `read` returned for these moves, as `move` does."""
        slots, staying = self._take_slots(moves)
        staying = staying.to(self._device)
        for index, (keys, values) in enumerate(rows):
            self._store.put(index, slots, keys[staying], values[staying])

    def save(self, save: Save) -> None:
        """Stores computed rows of a request: copies them to host memory, or records fingerprints of their pages."""
        in_pages = [piece.pages for piece in save.pieces if piece.pages is not None]
        if in_pages:
            slots = torch.from_numpy(_joined(in_pages)).to(self._device)
            keys, _ = self._layout.read_slots(self._caches[-1], slots)
            self._stored_keys[slots] = fingerprints(keys)
        pieces = [piece for piece in save.pieces if piece.pages is None]
        if pieces:
            self._copy_to_host(save, pieces)

    def _pages_of(self, moves: Sequence[Move]) -> torch.Tensor:
        return torch.from_numpy(_joined([move.pages for move in moves])).to(self._device)

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
        for piece in new:
            positions = torch.arange(piece.start, piece.end, dtype=torch.int32)
            tokens = torch.from_numpy(save.tokens[piece.start : piece.end])
            self._store.begin(torch.from_numpy(piece.slots), piece.owner, tokens, positions)
        for index, cache in enumerate(self._caches):
            for piece in new:
                rows = self._layout.read(cache, blocks, piece.start, piece.end)
                self._store.put(index, torch.from_numpy(piece.slots), *rows)
        for piece in pieces:
            slots = torch.from_numpy(piece.slots)
            tokens = torch.from_numpy(save.tokens[piece.start : piece.end])
            if piece.is_average and self._store.holds(slots, piece.owner, tokens):
                rows = (self._layout.read(cache, blocks, piece.start, piece.end) for cache in self._caches)
                self._store.average(slots, torch.arange(piece.start, piece.end), rows)


def _joined(places: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(places) if places else np.empty(0, np.int64)
