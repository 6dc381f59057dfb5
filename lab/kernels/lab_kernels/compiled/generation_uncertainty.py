"""The variants of generation_uncertainty that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from reprise_kernels.generation_uncertainty.dispatch import INTERPRETED
from reprise_kernels.generation_uncertainty.triton import generation_uncertainty_kernel
from reprise_kernels.launch.launch_configs import launch_config


def compile_specs() -> list[CompileSpec]:
    """For float32 and bf16 logits."""
    return [*tuned_specs(), _spec("bf16")]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    return [_spec("fp32")]


def _spec(dtype: str) -> CompileSpec:
    floats = {"Logits": f"*{dtype}", "State": "*fp32", "Entropy": "*fp32", "Page": "*fp32", "Triggered": "*i32"}
    integers = dict.fromkeys(("stride_logits", "vocabulary", "page_size"), "i32")
    types = floats | integers | {"max_entropy": "fp32", "max_varentropy": "fp32"}
    config = launch_config("generation_uncertainty", INTERPRETED)
    return CompileSpec(
        f"generation_uncertainty ({dtype})", generation_uncertainty_kernel, types,
        {"BLOCK": config["block"]}, config["warps"], even=("stride_logits", "vocabulary"),
    )  # fmt: skip
