"""The variants of kv_copy that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from reprise_kernels.kv_copy.dispatch import INTERPRETED
from reprise_kernels.kv_copy.triton import copy_rows_kernel
from reprise_kernels.launch.launch_configs import launch_config


def compile_specs() -> list[CompileSpec]:
    """Both directions, for rows of 8 heads of 128."""
    return tuned_specs()


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    directions = ("to the host", True), ("to the device", False)
    return [_spec(*one) for one in directions]


def _spec(variant: str, to_host: bool) -> CompileSpec:
    config, words = launch_config("kv_copy", INTERPRETED), 8 * 128 * 2 // 8
    constants = {"WORDS": words, "BLOCK": words, "BLOCK_ROWS": max(1, config["words"] // words), "TO_HOST": to_host}
    types = {"Rows": "*i64", "Slots": "*i32", "host_base": "i64", "count": "i32"}
    return CompileSpec(f"kv_copy ({variant})", copy_rows_kernel, types, constants, config["warps"], even=("host_base",))
