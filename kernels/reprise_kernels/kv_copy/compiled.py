"""The variants of kv_copy that are compiled ahead of time."""

from reprise_kernels.kv_copy.dispatch import INTERPRETED
from reprise_kernels.kv_copy.triton import copy_pages_kernel, copy_rows_kernel
from reprise_kernels.launch.compile_spec import CompileSpec
from reprise_kernels.launch.launch_configs import launch_config


def compile_specs() -> list[CompileSpec]:
    """Both directions, for pages of 16 tokens of the keys and values of 32 layers, and for rows; 8 heads of 128."""
    return tuned_specs()


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    directions = ("to the host", True), ("to the device", False)
    return [make(*one) for make in (_spec, _rows_spec) for one in directions]


def _spec(variant: str, to_host: bool) -> CompileSpec:
    types = {"LayerBases": "*i64", "Pages": "*i32", "HostPages": "*i32", "host_base": "i64"}
    types |= {"count": "i32", "stride_page": "i32"}
    config = launch_config("kv_copy", INTERPRETED)
    constants = {"PLANES": 64, "WORDS": 16 * 8 * 128 * 2 // 8, "BLOCK": config["words"], "TO_HOST": to_host}
    even = ("host_base", "stride_page")
    return CompileSpec(f"kv_copy ({variant})", copy_pages_kernel, types, constants, config["warps"], even=even)


def _rows_spec(variant: str, to_host: bool) -> CompileSpec:
    config, words = launch_config("kv_copy", INTERPRETED), 8 * 128 * 2 // 8
    constants = {"WORDS": words, "BLOCK": words, "BLOCK_ROWS": max(1, config["words"] // words), "TO_HOST": to_host}
    types = {"Rows": "*i64", "Slots": "*i32", "host_base": "i64", "count": "i32"}
    return CompileSpec(
        f"kv_copy (rows {variant})", copy_rows_kernel, types, constants, config["warps"], even=("host_base",)
    )
