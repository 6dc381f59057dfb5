"""The variants of choose_pages that are compiled ahead of time."""

from lab_kernels.launch.compile_spec import CompileSpec
from reprise_kernels.choose_pages.dispatch import INTERPRETED, SCORE_PAGES, block_dim
from reprise_kernels.choose_pages.triton import list_pages_kernel, page_mass_kernel, page_score_kernel
from reprise_kernels.launch.launch_configs import launch_config

HEADS, KEY_HEADS, HEAD_DIM = 32, 8, 128
# of a context of 32,768 tokens
PAGES = 2048


def compile_specs() -> list[CompileSpec]:
    """The three kernels, for queries in bf16."""
    return tuned_specs()


def tuned_specs() -> list[CompileSpec]:
    """The variants that depend on the operation's launch configuration: all."""
    config, group = launch_config("choose_pages", INTERPRETED), HEADS // KEY_HEADS
    size = config["pages"]
    strides = ("stride_row", "stride_q_head", "stride_slot", "stride_head", "stride_number", "stride_mass")
    places = dict.fromkeys(("Where", "Due"), "*i32")
    floats = {"Moments": "*fp32", **places, "Mass": "*fp32", "Parts": "*fp32", "scale": "fp32", "end": "fp32"}
    mass = CompileSpec(
        "choose_pages (mass bf16)", page_mass_kernel,
        {"Query": "*bf16", **floats, **dict.fromkeys((*strides, "blocks"), "i32")},
        {"GROUP": group, "HEAD_DIM": HEAD_DIM, "BLOCK_G": group, "BLOCK_D": block_dim(group, HEAD_DIM, size),
         "BLOCK_P": size},
        config["mass_warps"], even=strides,
    )  # fmt: skip
    score = CompileSpec(
        "choose_pages (score)", page_score_kernel,
        {"Mass": "*fp32", "Parts": "*fp32", **places, "Scores": "*fp32",
         **dict.fromkeys(("stride_mass", "blocks", "sinks", "recent"), "i32")},
        {"HEADS": HEADS, "BLOCK_H": HEADS, "BLOCK_N": PAGES // size, "MASS_P": size, "BLOCK_P": SCORE_PAGES},
        4, even=("stride_mass",),
    )  # fmt: skip
    listing = CompileSpec(
        "choose_pages (list)", list_pages_kernel,
        {"Scores": "*fp32", **dict.fromkeys(("Where", "Due", "Source", "Chosen", "Table"), "*i32"),
         **dict.fromkeys(("stride_scores", "stride_source", "stride_chosen", "stride_table"), "i32")},
        {"BLOCK": config["list"]}, config["list_warps"],
    )  # fmt: skip
    return [mass, score, listing]
