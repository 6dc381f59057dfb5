"""The variants of kv_deviation that are compiled ahead of time."""

from lab_kernels.kv_deviation.dispatch import INTERPRETED
from lab_kernels.kv_deviation.triton import kv_deviation_kernel
from lab_kernels.launch.compile_spec import CompileSpec
from lab_kernels.launch.launch_spaces import launch_config

EVEN = ("stride_token", "stride_fresh_head", "stride_slot", "stride_head")


def compile_specs() -> list[CompileSpec]:
    """With and without fresh keys or values."""
    return [
        *tuned_specs(),
        deviation_spec("kv_deviation", "fp32", fresh=True),
        deviation_spec("value_norm", "bf16", fresh=False),
    ]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [deviation_spec("kv_deviation", "bf16", fresh=True)]


def deviation_spec(operation: str, dtype: str, fresh: bool, weighted: bool = False) -> CompileSpec:
    """The one kernel of kv_deviation and its relatives."""
    types = {"Fresh": f"*{dtype}", "Cached": f"*{dtype}"}
    types |= dict.fromkeys(("Scores", "FreshWeight", "StaleWeight"), "*fp32")
    types |= dict.fromkeys(("CuTokens", "SlotTable", "KvLen"), "*i32")
    types |= dict.fromkeys((*EVEN, "stride_weight", "stride_table", "stride_scores"), "i32")
    config = launch_config("kv_deviation", INTERPRETED)
    sizes = {"HEADS": 8, "HEAD_DIM": 128, "BLOCK_T": config["tokens"], "BLOCK_D": 128}
    constants = {"HAS_FRESH": fresh, "WEIGHTED": weighted} | sizes
    return CompileSpec(f"{operation} ({dtype})", kv_deviation_kernel, types, constants, config["warps"], even=EVEN)
