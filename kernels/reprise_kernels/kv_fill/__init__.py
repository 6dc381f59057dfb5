"""Fills rows of all layers from rows elsewhere, with keys at their new positions: `kv_fill`, and `naive_kv_fill`."""

from reprise_kernels.kv_fill.dispatch import RowsOfLayers, kv_fill
from reprise_kernels.kv_fill.naive import Turns, naive_kv_fill

__all__ = ["RowsOfLayers", "Turns", "kv_fill", "naive_kv_fill"]
