"""The variants of page_summary that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from lab_kernels.launch.launch_spaces import launch_config
from lab_kernels.page_summary.dispatch import INTERPRETED
from lab_kernels.page_summary.triton import mean_rows_kernel, page_summary_kernel

PAGE_STRIDES = ("stride_page", "stride_slot", "stride_head", "stride_out_page")
ROW_STRIDES = ("columns", "stride_request", "stride_row", "stride_out_request", "stride_out_row")


def compile_specs() -> list[CompileSpec]:
    """Pages, and means of listed, of consecutive and of the last rows."""
    return [*tuned_specs(), _means("grids", "fp32", indexed=False, last=False), _means("anchor", "bf16", True, True)]


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration."""
    config = launch_config("page_summary", INTERPRETED)
    types = {"K": "*bf16", "PageIds": "*i32", "Tokens": "*i32", "Out": "*bf16"}
    constants = {"PAGE": 16, "BLOCK_T": 16, "HEAD_DIM": 128, "COLUMNS": 1024, "BLOCK": config["columns"]}
    pages = CompileSpec(
        "page_summary (pages bf16)", page_summary_kernel, types | dict.fromkeys(PAGE_STRIDES, "i32"), constants,
        config["warps"], even=PAGE_STRIDES,
    )  # fmt: skip
    return [pages, _means("chunks", "bf16", indexed=True, last=False)]


def _means(variant: str, dtype: str, indexed: bool, last: bool) -> CompileSpec:
    config = launch_config("page_summary", INTERPRETED)
    types = {"Rows": f"*{dtype}", "Index": "*i32", "Count": "*i32", "Out": "*fp32"}
    types |= dict.fromkeys((*ROW_STRIDES, "stride_index", "width"), "i32")
    constants = {"SIZE": 16, "INDEXED": indexed, "LAST": last, "BLOCK": config["row_columns"]}
    name = f"page_summary ({variant} {dtype})"
    return CompileSpec(name, mean_rows_kernel, types, constants, config["warps"], even=ROW_STRIDES)
