"""The variants of rope_shift that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from lab_kernels.launch.launch_spaces import launch_config
from lab_kernels.rope_shift.dispatch import INTERPRETED
from lab_kernels.rope_shift.triton import rope_shift_kernel

STRIDES = ("stride_key_slot", "stride_key_head", "stride_target_slot", "stride_target_head")


def compile_specs() -> list[CompileSpec]:
    """Half-split, interleaved and partial; in place and between caches."""
    return [
        *tuned_specs(),
        _spec("half-split fp32, in place", "fp32", rotary=128, interleaved=False, copy=False),
        _spec("interleaved bf16, in place", "bf16", rotary=128, interleaved=True, copy=False),
        _spec("partial bf16, into a cache", "bf16", rotary=64, interleaved=False, copy=True),
    ]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [_spec("half-split bf16, in place", "bf16", rotary=128, interleaved=False, copy=False)]


def _spec(variant: str, dtype: str, rotary: int, interleaved: bool, copy: bool) -> CompileSpec:
    pointers = {"Keys": f"*{dtype}", "Slots": "*i32", "Target": f"*{dtype}", "TargetSlots": "*i32", "Move": "*i32"}
    config = launch_config("rope_shift", INTERPRETED)
    return CompileSpec(
        f"rope_shift ({variant})",
        rope_shift_kernel,
        pointers | {"Cos": "*fp32", "Sin": "*fp32", "tokens": "i32"} | dict.fromkeys(STRIDES, "i32"),
        {
            "HEADS": 8, "HEAD_DIM": 128, "ROTARY_DIM": rotary, "INTERLEAVED": interleaved, "COPY_REST": copy,
            "BLOCK_T": config["tokens"], "BLOCK_PAIRS": rotary // 2, "BLOCK_REST": max(128 - rotary, 1),
        },
        config["warps"],
        even=STRIDES,
    )  # fmt: skip
