"""The variants of weighted_deviation that are compiled ahead of time."""

from lab_kernels.kv_deviation.compiled import deviation_spec
from lab_kernels.launch.compile_spec import CompileSpec


def compile_specs() -> list[CompileSpec]:
    """The kernel of kv_deviation, with weights."""
    return [deviation_spec("weighted_deviation", dtype, fresh=True, weighted=True) for dtype in ("bf16", "fp32")]
