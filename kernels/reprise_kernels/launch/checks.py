"""Checks of an operation's arguments: one clear line instead of a wrong answer or a fault on the device."""

from collections.abc import Sequence

import torch
from triton import knobs

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def check_tensor(
    name: str,
    tensor: torch.Tensor,
    shape: Sequence[int | None],
    dtypes: Sequence[torch.dtype],
    device: torch.device | None = None,
) -> None:
    """Raises ValueError unless the tensor has this shape (None: any size), one of these dtypes, and this device."""
    if tensor.dim() != len(shape) or any(
        want not in (None, have) for want, have in zip(shape, tensor.shape, strict=True)
    ):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, it must be ({wanted})")
    if tensor.dtype not in dtypes:
        raise ValueError(f"{name} is {tensor.dtype}, it must be one of {[str(dtype) for dtype in dtypes]}")
    if device is not None and tensor.device != device:
        raise ValueError(f"{name} is on {tensor.device}, it must be on {device} like the rest")


def check_runnable(tensor: torch.Tensor) -> None:
    """Raises ValueError on a CPU without Triton's interpreter, and for bfloat16 on a CPU, which it gets wrong."""
    if tensor.device.type == "cuda":
        return
    if not knobs.runtime.interpret:
        raise ValueError(f"the tensors are on {tensor.device}: without a GPU set TRITON_INTERPRET=1 before the import")
    if tensor.dtype == torch.bfloat16:
        # the interpreter computes on the bit patterns (triton issues 10919 and 11584)
        raise ValueError("Triton's interpreter is silently wrong in bfloat16: use float32 or float16 on a CPU")


def check_cache(name: str, cache: torch.Tensor, device: torch.device | None = None) -> None:
    """Raises ValueError unless this is a cache [pages, page_size, kv_heads, head_dim] with evenly spaced slots."""
    check_tensor(name, cache, (None, None, None, None), FLOATS, device)
    pages, page_size, _, head_dim = cache.shape
    if cache.stride(3) != 1:
        raise ValueError(f"{name} has stride {cache.stride(3)} in its last dimension, it must be 1")
    if pages > 1 and cache.stride(0) != page_size * cache.stride(1):
        raise ValueError(
            f"{name} has strides {cache.stride()}: a page must begin where the slots of the one before end"
        )
    if head_dim % 2 or not 16 <= head_dim <= 256:
        raise ValueError(f"{name} has head size {head_dim}, it must be even and between 16 and 256")


def check_index(name: str, index: torch.Tensor, shape: Sequence[int | None], device: torch.device) -> None:
    """Raises ValueError unless this is a contiguous int32 tensor of this shape on this device."""
    check_tensor(name, index, shape, (torch.int32,), device)
    if not index.is_contiguous():
        raise ValueError(f"{name} has strides {index.stride()}, it must be contiguous")


def check_queries(
    q: torch.Tensor, q_pos: torch.Tensor, cu_q: torch.Tensor, k: torch.Tensor, v: torch.Tensor | None = None
) -> None:
    """Raises ValueError unless queries [Nq, Hq, D], with their positions and requests, and caches match."""
    check_runnable(q)
    check_cache("k", k, q.device)
    check_tensor("q", q, (None, None, k.shape[3]), (k.dtype,))
    if q.stride(2) != 1:
        raise ValueError(f"q has stride {q.stride(2)} in its last dimension, it must be 1")
    if v is not None:
        check_tensor("v", v, k.shape, (k.dtype,), q.device)
        if v.stride() != k.stride():
            raise ValueError(f"k has strides {k.stride()} and v {v.stride()}: they must agree")
    if q.shape[1] % k.shape[2] or not 1 <= q.shape[1] // k.shape[2] <= 64:
        raise ValueError(f"q has {q.shape[1]} heads, k has {k.shape[2]}: at most 64 whole query heads go to a key head")
    check_index("q_pos", q_pos, (len(q),), q.device)
    check_index("cu_q", cu_q, (None,), q.device)
    if len(cu_q) < 2:
        raise ValueError("cu_q has no request: it is [requests + 1]")
