"""page_summary, mean_rows, recent_anchor: check their arguments and launch the kernels."""

import torch
import triton

from lab_kernels.launch.launch_spaces import launch_config
from lab_kernels.page_summary.triton import mean_rows_kernel, page_summary_kernel
from reprise_kernels.launch.checks import FLOATS, check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device

INTERPRETED = {"columns": 128, "row_columns": 512, "warps": 4}


def page_summary(
    k: torch.Tensor, page_ids: torch.Tensor, tokens: torch.Tensor, layer: int, out: torch.Tensor
) -> torch.Tensor:
    """Writes these pages' mean keys of one layer into `out`, as specified by `naive_page_summary`. Returns `out`.

    In a decode step, `page_ids` has an entry per request: its page if that has just filled, else -1.
    """
    check_runnable(k)
    check_cache("k", k)
    pages, page_size, heads, head_dim = k.shape
    check_index("page_ids", page_ids, (None,), k.device)
    check_index("tokens", tokens, (len(page_ids),), k.device)
    check_tensor("out", out, (pages, None, heads * head_dim), FLOATS, k.device)
    if out.stride(2) != 1:
        raise ValueError(f"out has stride {out.stride(2)} in its last dimension, it must be 1")
    if not 0 <= layer < out.shape[1]:
        raise ValueError(f"there is no layer {layer} of {out.shape[1]}")
    config = launch_config("page_summary", INTERPRETED)
    if len(page_ids):
        with on_device(k):
            page_summary_kernel[(len(page_ids), triton.cdiv(heads * head_dim, config["columns"]))](
                k, page_ids, tokens, out[:, layer], k.stride(0), k.stride(1), k.stride(2), out.stride(0),
                PAGE=page_size, BLOCK_T=triton.next_power_of_2(page_size), HEAD_DIM=head_dim, COLUMNS=heads * head_dim,
                BLOCK=config["columns"], num_warps=config["warps"],
            )  # fmt: skip
    return out


def mean_rows(rows: torch.Tensor, count: torch.Tensor, size: int, index: torch.Tensor | None = None) -> torch.Tensor:
    """Means of `size` rows each, as specified by `naive_mean_rows`, in float32."""
    width = _check_rows(rows, count, size, index)
    out = torch.empty((len(count), triton.cdiv(width, size), rows.shape[-1]), dtype=torch.float32, device=rows.device)
    return _launch(rows, count, size, index, out, last=False)


def recent_anchor(rows: torch.Tensor, count: torch.Tensor, window: int, index: torch.Tensor) -> torch.Tensor:
    """The mean of each request's last `window` rows, as specified by `naive_recent_anchor`, in float32."""
    _check_rows(rows, count, window, index)
    out = torch.empty((len(count), 1, rows.shape[-1]), dtype=torch.float32, device=rows.device)
    return _launch(rows, count, window, index, out, last=True)[:, 0]


def _check_rows(rows: torch.Tensor, count: torch.Tensor, size: int, index: torch.Tensor | None) -> int:
    """Raises ValueError if rows, count and index do not match. Returns the maximum number of rows per request."""
    check_runnable(rows)
    check_index("count", count, (None,), rows.device)
    check_tensor("rows", rows, (len(count), None, None) if index is None else (None, None), FLOATS)
    if rows.stride(-1) != 1:
        raise ValueError(f"rows has stride {rows.stride(-1)} in its last dimension, it must be 1")
    if size < 1:
        raise ValueError(f"a mean of {size} rows: it must be of 1 at least")
    if index is None:
        return rows.shape[1]
    check_index("index", index, (len(count), None), rows.device)
    return index.shape[1]


def _launch(
    rows: torch.Tensor, count: torch.Tensor, size: int, index: torch.Tensor | None, out: torch.Tensor, last: bool
) -> torch.Tensor:
    columns, config = rows.shape[-1], launch_config("page_summary", INTERPRETED)
    width = rows.shape[1] if index is None else index.shape[1]
    if out.numel():
        with on_device(rows):
            mean_rows_kernel[(triton.cdiv(columns, config["row_columns"]), out.shape[1], len(count))](
                rows, count if index is None else index, count, out, width, columns,
                rows.stride(0) if index is None else 0, rows.stride(-2), 0 if index is None else index.stride(0),
                out.stride(0), out.stride(1),
                SIZE=size, INDEXED=index is not None, LAST=last, BLOCK=config["row_columns"], num_warps=config["warps"],
            )  # fmt: skip
    return out
