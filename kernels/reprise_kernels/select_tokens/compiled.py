"""What of select_tokens is compiled ahead of time."""

from reprise_kernels.compile_spec import CompileSpec
from reprise_kernels.select_tokens.dispatch import BLOCK, WARPS
from reprise_kernels.select_tokens.triton import select_tokens_kernel


def compile_specs() -> list[CompileSpec]:
    """The one kernel there is."""
    pointers = {"Scores": "*fp32", "Lengths": "*i32", "Wanted": "*i32", "Positions": "*i32"}
    types = pointers | dict.fromkeys(("stride_scores", "stride_positions", "capacity"), "i32")
    return [CompileSpec("select_tokens", select_tokens_kernel, types, {"BLOCK": BLOCK}, WARPS)]
