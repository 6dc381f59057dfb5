"""What of kv_deviation is compiled ahead of time."""

from reprise_kernels.compile_spec import CompileSpec
from reprise_kernels.kv_deviation.dispatch import BLOCK_TOKENS, WARPS
from reprise_kernels.kv_deviation.triton import kv_deviation_kernel

EVEN = ("stride_token", "stride_fresh_head", "stride_slot", "stride_head")


def compile_specs() -> list[CompileSpec]:
    """With fresh keys or values, and without."""
    return [_spec("bf16", True), _spec("fp32", True), _spec("bf16", False)]


def _spec(dtype: str, fresh: bool) -> CompileSpec:
    types = {"Fresh": f"*{dtype}", "Cached": f"*{dtype}", "Scores": "*fp32"}
    types |= dict.fromkeys(("CuTokens", "SlotTable", "KvLen"), "*i32")
    types |= dict.fromkeys((*EVEN, "stride_table", "stride_scores"), "i32")
    constants = {"HAS_FRESH": fresh, "HEADS": 8, "HEAD_DIM": 128, "BLOCK_T": BLOCK_TOKENS, "BLOCK_D": 128}
    name = f"{'kv_deviation' if fresh else 'value_norm'} ({dtype})"
    return CompileSpec(name, kv_deviation_kernel, types, constants, WARPS, even=EVEN)
