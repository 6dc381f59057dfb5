"""Fills rows of all layers by one launch of reprise-kernels."""

from collections.abc import Sequence

import numpy as np
import torch

from reprise_reuse.device import to_device
from reprise_reuse.host_store import HostStore
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows.engine_parts import Layout

_BESIDE = 64
"""programs that copy from host memory beside others: together they read 256 KB at a time, and a bus needs some 80"""


class FillKernel:
    """Copies rows from the engine's pages, or from pinned host memory, to other pages, turning keys on the way."""

    def __init__(self, layout: Layout, caches: Sequence[torch.Tensor], store: HostStore, rotation: KeyRotation) -> None:
        """rotation: one that turns all layers alike. Raises ValueError if the kernel cannot reach the pages."""
        from reprise_kernels.kv_fill import RowsOfLayers, Turns

        self._device = caches[0].device
        self._layout = layout
        in_place = [layout.in_place(cache) for cache in caches]
        self._span = in_place[0].span
        self._pages = RowsOfLayers.of([(one.keys[0], one.values[0]) for one in in_place], self._device)
        self._store = store
        layers = store.layers_for_kernels()
        self._host = None if layers is None else RowsOfLayers.of(layers, self._device)
        self._turns = Turns(*rotation.moves)
        self._is_interleaved = not rotation.is_neox

    @property
    def reads_host_memory(self) -> bool:
        """Whether the kernel reads rows where host memory keeps them."""
        return self._host is not None

    def copy_pages(self, pages: np.ndarray, to: np.ndarray, distances: np.ndarray) -> None:
        """Copies rows between slots of the engine's cache (int64 [n] each); no slot may be among both.

        distances  int64 [n]: how far each key moves
        """
        self._fill(self._pages, self._places(pages), to, distances)

    def copy_from_host(
        self, slots: np.ndarray, to: np.ndarray, distances: np.ndarray, *, is_beside: bool = False
    ) -> None:
        """Copies rows from slots of host memory to slots of the engine's cache (int64 [n] each).

        is_beside: leaves most of the GPU to whoever computes meanwhile
        """
        with self._store.read_by_kernels(self._device):
            self._fill(self._host, slots, to, distances, _BESIDE if is_beside else None)

    def _fill(
        self, source: object, slots: np.ndarray, to: np.ndarray, distances: np.ndarray, programs: int | None = None
    ) -> None:
        from reprise_kernels.kv_fill import kv_fill

        given = np.stack((slots, self._places(to), distances)).astype(np.int32)
        source_slots, target_slots, moves = to_device(given, self._device)
        kv_fill(
            source, source_slots, self._pages, target_slots, moves, self._turns, interleaved=self._is_interleaved,
            programs=programs,
        )  # fmt: skip

    def _places(self, slots: np.ndarray) -> np.ndarray:
        return self._layout.places(slots, self._span)
