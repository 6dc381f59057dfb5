"""Copies pages and rows between an engine's caches and host memory: `kv_copy` and its specification."""

from reprise_kernels.kv_copy.dispatch import LayerPages, pages_to_device, pages_to_host, rows_to_device, rows_to_host
from reprise_kernels.kv_copy.naive import naive_pages_to_device, naive_pages_to_host

__all__ = [
    "LayerPages",
    "naive_pages_to_device",
    "naive_pages_to_host",
    "pages_to_device",
    "pages_to_host",
    "rows_to_device",
    "rows_to_host",
]
