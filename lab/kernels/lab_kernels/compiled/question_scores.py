"""The variants of question_scores that are compiled ahead of time."""

import torch

from lab_kernels.launch.compile_spec import TRITON_NAMES, CompileSpec
from reprise_kernels.question_scores.dispatch import choose_tile
from reprise_kernels.question_scores.triton import question_scores_kernel

GROUP, KEY_HEADS = 4, 8
INDICES = dict.fromkeys(("QPos", "CuQ", "SlotTable", "KvLen"), "*i32")
EVEN = ("stride_q_token", "stride_q_head", "stride_lse_token", "stride_slot", "stride_head")


def compile_specs() -> list[CompileSpec]:
    """In bf16 and fp32, for several head sizes."""
    dtypes = (torch.bfloat16, torch.float32)
    plain = [_spec(dtype, size) for dtype in dtypes for size in (64, 256)]
    return [*tuned_specs(), _spec(torch.float32, 128), *plain]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [_spec(torch.bfloat16, 128)]


def _spec(dtype: torch.dtype, head_dim: int) -> CompileSpec:
    name = TRITON_NAMES[str(dtype).removeprefix("torch.")]
    tile = choose_tile(dtype, head_dim)
    kernel = question_scores_kernel
    floats = {"Q": f"*{name}", "K": f"*{name}", "Lse": "*fp32", "Out": "*fp32", "scale": "fp32", "weight": "fp32"}
    types = floats | INDICES | dict.fromkeys((*EVEN, "stride_table", "stride_out"), "i32")
    constants = {
        "KEY_HEADS": KEY_HEADS, "GROUP": GROUP, "HEAD_DIM": head_dim, "BLOCK_D": tile.dim, "BLOCK_M": tile.rows,
        "BLOCK_Q": tile.rows // GROUP, "BLOCK_N": tile.keys, "PRECISION": tile.precision,
    }  # fmt: skip
    names = kernel.arg_names
    return CompileSpec(
        f"question_scores ({name}, {head_dim})", kernel,
        {one: types[one] for one in names if one in types}, {one: constants[one] for one in names if one in constants},
        tile.warps, tile.stages, EVEN,
    )  # fmt: skip
