"""The variants of hierarchical_select that are compiled ahead of time."""

from lab_kernels.hierarchical_select.dispatch import (
    HIERARCHICAL_SELECT,
    INTERPRETED,
    MOST_PAGES,
    cuda_launch,
    padded_sizes,
)
from lab_kernels.hierarchical_select.hierarchy import Hierarchy
from lab_kernels.hierarchical_select.triton import hierarchical_select_kernel, score_pages_kernel
from lab_kernels.launch.compile_spec import CompileSpec, CudaSpec
from lab_kernels.launch.launch_spaces import Config, first_with, launch_config

PAGES = 2048
EVEN = ("columns", "stride_anchor", "stride_row")


def compile_specs() -> list[CompileSpec | CudaSpec]:
    """Both kernels for a context of 2,048 pages, and the selection with either interpretation of the thresholds."""
    # Triton's selection runs if there are no CUDA bindings; the CUDA kernel handles both interpretations at run time
    config = first_with("hierarchical_select", "select_warps")
    return [
        *tuned_specs(),
        _selection("among active", True, config),
        *(
            _selection(f"{MOST_PAGES} pages, {warps} warps", False, {"select_warps": warps}, MOST_PAGES)
            for warps in (8, 16)
        ),
    ]


def tuned_specs() -> list[CompileSpec | CudaSpec]:
    """The variants that depend on the operation's launch configuration."""
    config = launch_config("hierarchical_select", INTERPRETED)
    types = {"Anchor": "*fp32", "Summaries": "*bf16", "PageTable": "*i32", "PageCount": "*i32", "Scores": "*fp32"}
    types |= dict.fromkeys((*EVEN, "stride_table", "stride_scores", "recent"), "i32")
    constants = {"BLOCK_P": config["pages"], "BLOCK_C": config["columns"]}
    name, warps = "hierarchical_select (scores bf16)", config["score_warps"]
    scoring = CompileSpec(name, score_pages_kernel, types, constants, warps, even=EVEN)
    if "cuda_warps" in config:
        how = cuda_launch(1, PAGES, Hierarchy(), config)
        return [scoring, CudaSpec("hierarchical_select (selection)", HIERARCHICAL_SELECT, how)]
    return [scoring, _selection("zeros", False, config)]


def _selection(variant: str, among_active: bool, config: Config, most: int = PAGES) -> CompileSpec:
    integers = (
        "stride_scores", "stride_chosen", "width", "sinks", "recent", "drop_grids", "drop_chunks", "drop_pages",
    )  # fmt: skip
    types = {"Scores": "*fp32", "PageCount": "*i32", "Chosen": "*i32", "Count": "*i32"} | dict.fromkeys(integers, "i32")
    hierarchy = Hierarchy()
    grids, chunks, pages = padded_sizes(most, hierarchy)
    constants = {
        "CHUNKS": hierarchy.chunks, "PAGES": hierarchy.pages, "AMONG_ACTIVE": among_active,
        "BLOCK_G": grids, "BLOCK_CH": chunks, "BLOCK_P": pages,
    }  # fmt: skip
    name = f"hierarchical_select (selection, {variant})"
    return CompileSpec(name, hierarchical_select_kernel, types, constants, config["select_warps"])
