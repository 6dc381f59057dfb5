"""The variants of select_tokens that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec, CudaSpec
from lab_kernels.launch.launch_spaces import launch_config
from lab_kernels.select_tokens.dispatch import INTERPRETED, SELECT_TOKENS, cuda_launch
from lab_kernels.select_tokens.triton import select_tokens_kernel

TOKENS = 32_768


def compile_specs() -> list[CompileSpec | CudaSpec]:
    """The one kernel that is launched."""
    return tuned_specs()


def tuned_specs() -> list[CompileSpec | CudaSpec]:
    """The variants that depend on the operation's launch configuration."""
    config = launch_config("select_tokens", INTERPRETED)
    if "cluster" in config:
        return [CudaSpec("select_tokens", SELECT_TOKENS, cuda_launch(1, TOKENS, config))]
    pointers = {"Scores": "*fp32", "Lengths": "*i32", "Positions": "*i32", "Counts": "*i32"}
    types = pointers | {"ratio": "fp64", "stride_scores": "i32", "width": "i32", "capacity": "i32"}
    constants = {"BLOCK": config["block"]}
    return [CompileSpec("select_tokens", select_tokens_kernel, types, constants, config["warps"], fuses=False)]
