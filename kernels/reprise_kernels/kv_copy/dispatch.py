"""kv_copy: checks its arguments and launches the kernels."""

import torch
import triton
from triton import knobs

from reprise_kernels.kv_copy.triton import copy_rows_kernel
from reprise_kernels.launch.checks import check_index, check_tensor
from reprise_kernels.launch.launch_configs import launch_config, on_device

INTERPRETED = {"words": 1024, "warps": 4, "programs": 16}


def rows_to_host(rows: torch.Tensor, host: torch.Tensor, slots: torch.Tensor) -> None:
    """Copies rows [n, ...] into the rows of pinned host memory [slots, ...] that `slots` (int32 [n]) names.

    On the current stream. Nothing waits, and torch does not know that the stream uses `host`: keep it alive until the
    stream has finished. If a slot is named more than once, it gets any of its rows.
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
