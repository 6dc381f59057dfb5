"""What of hierarchical_select is compiled ahead of time."""

from reprise_kernels.compile_spec import CompileSpec
from reprise_kernels.hierarchical_select.dispatch import (
    SCORE_BLOCK_C,
    SCORE_BLOCK_P,
    SCORE_WARPS,
    SELECT_WARPS,
    padded_sizes,
)
from reprise_kernels.hierarchical_select.hierarchy import Hierarchy
from reprise_kernels.hierarchical_select.triton import hierarchical_select_kernel, score_pages_kernel

PAGES = 2048
EVEN = ("columns", "stride_anchor", "stride_row")


def compile_specs() -> list[CompileSpec]:
    """Both kernels for a context of 2,048 pages, the selection with either reading of the thresholds."""
    types = {"Anchor": "*fp32", "Summaries": "*bf16", "PageTable": "*i32", "PageCount": "*i32", "Scores": "*fp32"}
    types |= dict.fromkeys((*EVEN, "stride_table", "stride_scores", "recent"), "i32")
    constants = {"BLOCK_P": SCORE_BLOCK_P, "BLOCK_C": SCORE_BLOCK_C}
    scoring = CompileSpec(
        "hierarchical_select (scores bf16)", score_pages_kernel, types, constants, SCORE_WARPS, even=EVEN
    )
    return [scoring, _selection("zeros", False), _selection("among active", True)]


def _selection(variant: str, among_active: bool) -> CompileSpec:
    integers = (
        "stride_scores", "stride_chosen", "width", "sinks", "recent", "drop_grids", "drop_chunks", "drop_pages",
    )  # fmt: skip
    types = {"Scores": "*fp32", "PageCount": "*i32", "Chosen": "*i32", "Count": "*i32"} | dict.fromkeys(integers, "i32")
    hierarchy = Hierarchy()
    grids, chunks, pages = padded_sizes(PAGES, hierarchy)
    constants = {
        "CHUNKS": hierarchy.chunks, "PAGES": hierarchy.pages, "AMONG_ACTIVE": among_active,
        "BLOCK_G": grids, "BLOCK_CH": chunks, "BLOCK_P": pages,
    }  # fmt: skip
    name = f"hierarchical_select (selection, {variant})"
    return CompileSpec(name, hierarchical_select_kernel, types, constants, SELECT_WARPS)
