"""The variants of sparse prefill attention that are compiled ahead of time."""

from typing import Any

import torch

from lab_kernels.launch.compile_spec import TRITON_NAMES, CompileSpec
from lab_kernels.shared_prefill_attention.dispatch import MARK_BLOCK
from lab_kernels.shared_prefill_attention.triton import mark_stale_kernel, shared_prefill_kernel
from reprise_kernels.sparse_prefill_attention.dispatch import choose_tile
from reprise_kernels.sparse_prefill_attention.triton import slot_prefill_kernel

GROUP = 4


def compile_specs() -> list[CompileSpec]:
    """Both layouts."""
    return [
        *tuned_specs(),
        *(_attention("slot table", slot_prefill_kernel, torch.bfloat16, head_dim=size) for size in (64, 256)),
        _attention("slot table", slot_prefill_kernel, torch.float32),
        _attention("and own keys", slot_prefill_kernel, torch.bfloat16, own=True),
        _attention("and own keys", slot_prefill_kernel, torch.float32, own=True),
        _attention("shared pages", shared_prefill_kernel, torch.bfloat16),
        _attention("shared pages", shared_prefill_kernel, torch.float32),
        _mark_stale(),
    ]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [_attention("slot table", slot_prefill_kernel, torch.bfloat16)]


def _attention(
    variant: str, kernel: Any, dtype: torch.dtype, head_dim: int = 128, own: bool = False,
) -> CompileSpec:  # fmt: skip
    name = TRITON_NAMES[str(dtype).removeprefix("torch.")]
    tile = choose_tile(dtype, head_dim, GROUP)
    sizes = {
        "PAGE": 16, "GROUP": GROUP, "HEAD_DIM": head_dim, "BLOCK_D": tile.dim, "BLOCK_B": 64, "BLOCK_M": tile.rows,
        "BLOCK_Q": tile.tokens(GROUP), "BLOCK_N": tile.keys, "PRECISION": tile.precision,
        "OWN": own,
    }  # fmt: skip
    floats = dict.fromkeys(("Q", "K", "V", "OwnK", "OwnV", "Out"), f"*{name}") | {"Lse": "*fp32"}
    known = floats | {"scale": "fp32", "requests": "i32", "places": "i32"}
    arguments = [one for one in kernel.arg_names if one not in sizes]
    types = {one: known.get(one, "i32" if one.startswith("stride") else "*i32") for one in arguments}
    # the rows of the tables have arbitrary lengths
    even = tuple(
        one
        for one in arguments
        if one.startswith(("stride_q", "stride_slot", "stride_head", "stride_own", "stride_out"))
    )
    constants = {one: size for one, size in sizes.items() if one in kernel.arg_names}
    return CompileSpec(
        f"sparse_prefill_attention ({variant} {name}, {head_dim})",
        kernel,
        types,
        constants,
        tile.warps,
        tile.stages,
        even,
    )


def _mark_stale() -> CompileSpec:
    integers = dict.fromkeys(("places", "positions", "stride_pos", "stride_stale"), "i32")
    types = {"OwnPos": "*i32", "Stale": "*i32"} | integers
    name = "sparse_prefill_attention (stale bits)"
    return CompileSpec(name, mark_stale_kernel, types, {"BLOCK": MARK_BLOCK}, warps=4)
