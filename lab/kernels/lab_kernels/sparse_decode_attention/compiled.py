"""The variants of sparse_decode_attention that are compiled ahead of time."""

import torch

from lab_kernels.launch.compile_spec import TRITON_NAMES, CompileSpec
from lab_kernels.sparse_decode_attention.tiles import choose_tile
from lab_kernels.sparse_decode_attention.triton import combine_kernel, decode_kernel

GROUP, SPLITS = 4, 32
INDICES = dict.fromkeys(("KvLen", "Table", "List", "Count"), "*i32")
STRIDES = ("stride_q_token", "stride_q_head", "stride_slot", "stride_head")
TABLE_STRIDES = ("stride_table", "stride_list")


def compile_specs() -> list[CompileSpec]:
    """All pages by slot table, listed pages by page table, and the kernel that combines the splits."""
    return [
        *tuned_specs(),
        *(_decode("page list", torch.bfloat16, paged=True, listed=True, head_dim=size) for size in (64, 256)),
        _decode("page list", torch.float32, paged=True, listed=True),
        _combine(),
    ]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [
        _decode("slot table", torch.bfloat16, paged=False, listed=False),
        _decode("page list", torch.bfloat16, paged=True, listed=True),
    ]


def _decode(variant: str, dtype: torch.dtype, paged: bool, listed: bool, head_dim: int = 128) -> CompileSpec:
    name = TRITON_NAMES[str(dtype).removeprefix("torch.")]
    tile = choose_tile(dtype, head_dim, GROUP)
    floats = dict.fromkeys(("Q", "K", "V"), f"*{name}") | {"PartOut": "*fp32", "PartLse": "*fp32", "scale": "fp32"}
    constants = {
        "PAGE": 16, "PAGED": paged, "LISTED": listed, "SPLITS": SPLITS, "GROUP": GROUP, "HEAD_DIM": head_dim,
        "BLOCK_D": tile.dim, "BLOCK_M": tile.rows, "BLOCK_N": tile.keys, "PRECISION": tile.precision,
    }  # fmt: skip
    return CompileSpec(
        f"sparse_decode_attention ({variant} {name}, {head_dim})", decode_kernel,
        floats | INDICES | dict.fromkeys((*STRIDES, *TABLE_STRIDES), "i32"), constants,
        tile.warps, tile.stages, STRIDES,
    )  # fmt: skip


def _combine() -> CompileSpec:
    strides = ("stride_out_token", "stride_out_head")
    types = {"PartOut": "*fp32", "PartLse": "*fp32", "Out": "*bf16", "Lse": "*fp32"} | dict.fromkeys(strides, "i32")
    constants = {"SPLITS": SPLITS, "BLOCK_S": SPLITS, "HEAD_DIM": 128, "BLOCK_D": 128}
    return CompileSpec("sparse_decode_attention (combine)", combine_kernel, types, constants, warps=4, even=strides)
