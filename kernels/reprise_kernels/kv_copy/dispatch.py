"""kv_copy: checks its arguments and launches the kernels."""

import torch
import triton
from triton import knobs

from reprise_kernels.kv_copy.triton import copy_pages_kernel, copy_rows_kernel
from reprise_kernels.launch.checks import FLOATS, check_index, check_tensor
from reprise_kernels.launch.launch_configs import launch_config
from reprise_kernels.launch.on_device import on_device

INTERPRETED = {"words": 1024, "warps": 4, "programs": 16}


class LayerPages:
    """The caches of an engine's layers, keys then values for each layer, with their addresses on the device."""

    def __init__(self, layers: list[torch.Tensor]) -> None:
        """Raises ValueError unless all layers have the same layout and each page is one aligned piece."""
        if not layers:
            raise ValueError("there are no layers")
        first = layers[0]
        for layer in layers:
            check_tensor("a layer", layer, first.shape, (first.dtype,), first.device)
            if layer.stride() != first.stride() or layer.dim() != 4 or layer.dtype not in FLOATS:
                raise ValueError(
                    f"a layer is {layer.dtype} with strides {layer.stride()}, the first has {first.stride()}"
                )
        self.layers = layers
        self.page_bytes = first[0].numel() * first.element_size()
        stride_bytes = first.stride(0) * first.element_size()
        if not first[0].is_contiguous() or self.page_bytes % 16 or stride_bytes % 16:
            raise ValueError(f"a page of strides {first.stride()} is no one piece of whole 16 bytes")
        if any(layer.data_ptr() % 16 for layer in layers):
            raise ValueError("a layer does not begin at a multiple of 16 bytes")
        self.stride_words = stride_bytes // 8
        self.bases = torch.tensor([layer.data_ptr() for layer in layers], dtype=torch.int64, device=first.device)


def pages_to_host(layers: LayerPages, pages: torch.Tensor, host: torch.Tensor, host_pages: torch.Tensor) -> None:
    """Copies pages of all layers into pinned host memory, as specified by `naive_pages_to_host`, on the current stream.

    Nothing waits, and torch does not know that the stream uses `host`. Keep `host` alive until the stream has finished,
    because its memory is reused as soon as it is released.
    """
    _copy(layers, pages, host, host_pages, to_host=True)


def pages_to_device(layers: LayerPages, pages: torch.Tensor, host: torch.Tensor, host_pages: torch.Tensor) -> None:
    """Copies pages of all layers from pinned memory, as specified by `naive_pages_to_device`, on the current stream.

    As with `pages_to_host`, keep `host` alive until the stream has finished.
    """
    _copy(layers, pages, host, host_pages, to_host=False)


def _copy(layers: LayerPages, pages: torch.Tensor, host: torch.Tensor, host_pages: torch.Tensor, to_host: bool) -> None:
    first = layers.layers[0]
    if first.device.type != "cuda" and not knobs.runtime.interpret:
        raise ValueError(f"the layers are on {first.device}: without a GPU set TRITON_INTERPRET=1 before the import")
    check_tensor("host", host, (None, len(layers.layers), *first.shape[1:]), (first.dtype,), torch.device("cpu"))
    if not host.is_contiguous() or host.data_ptr() % 16:
        raise ValueError(f"host has strides {host.stride()}: it must be contiguous and begin at a multiple of 16 bytes")
    if first.device.type == "cuda" and not host.is_pinned():
        raise ValueError("host is not pinned: the GPU cannot reach it")
    check_index("pages", pages, (None,), first.device)
    check_index("host_pages", host_pages, (len(pages),), first.device)
    config = launch_config("kv_copy", INTERPRETED)
    if len(pages):
        with on_device(first):
            copy_pages_kernel[(config["programs"],)](
                layers.bases, pages, host_pages, host.data_ptr(), len(pages), layers.stride_words,
                PLANES=len(layers.layers), WORDS=layers.page_bytes // 8, BLOCK=config["words"], TO_HOST=to_host,
                num_warps=config["warps"],
            )  # fmt: skip


def rows_to_host(rows: torch.Tensor, host: torch.Tensor, slots: torch.Tensor) -> None:
    """Copies rows [n, ...] into the rows of pinned host memory [slots, ...] that `slots` (int32 [n]) names.

    On the current stream. Nothing waits; as with `pages_to_host`, keep `host` alive until the stream has finished. If
    a slot is named more than once, it gets any of its rows.
    """
    _copy_rows(rows, host, slots, to_host=True)


def rows_to_device(host: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Returns the rows of pinned host memory [slots, ...] that `slots` (int32 [n]) names; [n, ...] on its device.

    As with `rows_to_host`.
    """
    rows = torch.empty((len(slots), *host.shape[1:]), dtype=host.dtype, device=slots.device)
    _copy_rows(rows, host, slots, to_host=False)
    return rows


def _copy_rows(rows: torch.Tensor, host: torch.Tensor, slots: torch.Tensor, to_host: bool) -> None:
    if rows.device.type != "cuda" and not knobs.runtime.interpret:
        raise ValueError(f"the rows are on {rows.device}: without a GPU set TRITON_INTERPRET=1 before the import")
    check_tensor("rows", rows, (None, *host.shape[1:]), (host.dtype,), slots.device)
    check_index("slots", slots, (len(rows),), rows.device)
    if not rows.is_contiguous() or not host.is_contiguous():
        raise ValueError(f"rows have strides {rows.stride()} and host {host.stride()}: both must be contiguous")
    row_bytes = host[0].numel() * host.element_size()
    if row_bytes % 16 or host.data_ptr() % 16 or rows.data_ptr() % 16:
        raise ValueError(f"a row of {row_bytes} bytes is no aligned piece of whole 16 bytes")
    if rows.device.type == "cuda" and not host.is_pinned():
        raise ValueError("host is not pinned: the GPU cannot reach it")
    if not len(rows):
        return
    config, words = launch_config("kv_copy", INTERPRETED), row_bytes // 8
    block = min(config["words"], triton.next_power_of_2(words))
    with on_device(rows):
        copy_rows_kernel[(config["programs"],)](
            rows.view(len(rows), -1).view(torch.int64), slots, host.data_ptr(), len(rows),
            WORDS=words, BLOCK=block, BLOCK_ROWS=config["words"] // block, TO_HOST=to_host, num_warps=config["warps"],
        )  # fmt: skip
