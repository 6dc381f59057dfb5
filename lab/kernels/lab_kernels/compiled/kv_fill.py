"""The variants of kv_fill that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from reprise_kernels.kv_fill.dispatch import INTERPRETED
from reprise_kernels.kv_fill.triton import kv_fill_kernel
from reprise_kernels.launch.launch_configs import launch_config

ADDRESSES = ("SourceKeys", "SourceValues", "TargetKeys", "TargetValues")
STRIDES = ("stride_source_slot", "stride_source_head", "stride_target_slot", "stride_target_head")


def compile_specs() -> list[CompileSpec]:
    """Half-split, interleaved and partial."""
    return [
        *tuned_specs(),
        _spec("half-split fp32", "fp32", rotary=128, interleaved=False),
        _spec("interleaved bf16", "bf16", rotary=128, interleaved=True),
        _spec("partial bf16", "bf16", rotary=64, interleaved=False),
    ]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [_spec("half-split bf16", "bf16", rotary=128, interleaved=False)]


def _spec(variant: str, dtype: str, rotary: int, interleaved: bool) -> CompileSpec:
    indices = dict.fromkeys(("SourceSlots", "TargetSlots", "Distances"), "*i32")
    config = launch_config("kv_fill", INTERPRETED)
    return CompileSpec(
        f"kv_fill ({variant})",
        kv_fill_kernel,
        dict.fromkeys(ADDRESSES, "*i64") | indices | {"Cos": "*fp32", "Sin": "*fp32", "Like": f"*{dtype}"}
        | {"rows": "i32", "layers": "i32"} | dict.fromkeys(STRIDES, "i32"),
        {
            "HEADS": 8, "HEAD_DIM": 128, "ROTARY_DIM": rotary, "INTERLEAVED": interleaved, "BLOCK_T": config["rows"],
            "BLOCK_PAIRS": rotary // 2, "BLOCK_REST": max(128 - rotary, 1), "BLOCK_D": 128,
        },
        config["warps"],
        even=STRIDES,
    )  # fmt: skip
