"""What of select_tokens is compiled ahead of time."""

from reprise_kernels.compile_spec import CompileSpec
from reprise_kernels.launch_configs import launch_config
from reprise_kernels.select_tokens.dispatch import INTERPRETED
from reprise_kernels.select_tokens.triton import select_tokens_kernel


def compile_specs() -> list[CompileSpec]:
    """The one kernel there is."""
    return tuned_specs()


def tuned_specs() -> list[CompileSpec]:
    """What the operation's launch configuration decides."""
    config = launch_config("select_tokens", INTERPRETED)
    pointers = {"Scores": "*fp32", "Lengths": "*i32", "Wanted": "*i32", "Positions": "*i32"}
    types = pointers | dict.fromkeys(("stride_scores", "stride_positions", "capacity"), "i32")
    return [CompileSpec("select_tokens", select_tokens_kernel, types, {"BLOCK": config["block"]}, config["warps"])]
