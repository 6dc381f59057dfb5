"""question_scores: checks its arguments and launches the kernel."""

import math

import torch
import triton
from triton import knobs

from reprise_kernels.launch.checks import check_index, check_queries, check_tensor
from reprise_kernels.launch.launch_configs import Tile, launch_config, on_device
from reprise_kernels.question_scores.triton import question_scores_kernel

INTERPRETED = {"rows": 64, "keys": 32, "warps": 4, "stages": 2}


def choose_tile(dtype: torch.dtype, head_dim: int) -> Tile:
    """Returns the tile for these queries."""
    dim = triton.next_power_of_2(head_dim)
    if dtype != torch.float32 and dim <= 128:
        return Tile(**launch_config("question_scores", INTERPRETED), precision="tf32", dim=dim)
    if knobs.runtime.interpret:
        return Tile(**INTERPRETED, precision="ieee", dim=dim)
    if dtype == torch.float32:
        # tiles for which the compiler needs no stack, on both targets of COMPILED.md
        return Tile(64, 32 if dim == 128 else 16, 8, 1, "ieee", dim)
    return Tile(64, 64, 4, 2, "tf32", dim)


def question_scores(
    q: torch.Tensor,
    q_pos: torch.Tensor,
    cu_q: torch.Tensor,
    lse: torch.Tensor,
    k: torch.Tensor,
    slot_table: torch.Tensor,
    kv_len: torch.Tensor,
    weight: float = 1.0,
    scale: float | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Mean attention weights as specified by `naive_question_scores`, float32 [B, Nmax]; added to `out` if given.

    One call per layer, with weight 1 / L and the same `out`, fuses the layers without storing the matrix of weights.
    """
    requests = len(cu_q) - 1
    check_queries(q, q_pos, cu_q, k)
    check_tensor("lse", lse, tuple(q.shape[:2]), (torch.float32,), q.device)
    if lse.stride(1) != 1:
        raise ValueError(f"lse has stride {lse.stride(1)} in its last dimension, it must be 1")
    check_index("slot_table", slot_table, (requests, None), q.device)
    check_index("kv_len", kv_len, (requests,), q.device)
    if out is None:
        out = torch.zeros(slot_table.shape, dtype=torch.float32, device=q.device)
    check_tensor("out", out, tuple(slot_table.shape), (torch.float32,), q.device)
    if out.stride(1) != 1:
        raise ValueError(f"out has stride {out.stride(1)} in its last dimension, it must be 1")
    if slot_table.shape[1] == 0:
        return out
    head_dim, group = q.shape[2], q.shape[1] // k.shape[2]
    tile = choose_tile(q.dtype, head_dim)
    grid = (triton.cdiv(slot_table.shape[1], tile.keys), requests)
    factors = ((head_dim**-0.5 if scale is None else scale) * math.log2(math.e), weight)
    strides = (q.stride(0), q.stride(1), lse.stride(0), k.stride(1), k.stride(2), slot_table.shape[1])
    sizes = {
        "KEY_HEADS": k.shape[2], "GROUP": group, "HEAD_DIM": head_dim, "BLOCK_M": tile.rows,
        "BLOCK_Q": tile.rows // group, "BLOCK_N": tile.keys, "PRECISION": tile.precision,
        "num_warps": tile.warps, "num_stages": tile.stages,
    }  # fmt: skip
    with on_device(q):
        question_scores_kernel[grid](
            q, q_pos, cu_q, lse, k, slot_table, kv_len, out, *factors, *strides, out.stride(0),
            BLOCK_D=tile.dim, **sizes,
        )  # fmt: skip
    return out
