"""The launch configurations to try for each operation, at most 6; the first was chosen by arithmetic."""

from collections.abc import Mapping

from triton import knobs

from lab_kernels.launch.launch_table import read_table
from reprise_kernels.launch.launch_configs import TABLE, TRIED, Config

MOST = 6
# the operations of `reprise_kernels`, which have a table; the others are only here
RELEASED = frozenset(read_table(TABLE).configs)


def launch_config(operation: str, interpreted: Config) -> Config:
    """As for the released operations; those here have no table, and are launched with the first of their space."""
    return TRIED.get(operation) or (interpreted if knobs.runtime.interpret else SPACES[operation][0])


def first_with(operation: str, name: str) -> Config:
    """Returns the operation's first configuration that has this name, which selects CUDA or Triton."""
    return next(config for config in SPACES[operation] if name in config)


def _space(names: str, *rows: tuple[int, ...]) -> tuple[Config, ...]:
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


# the attention operations and question_scores: for 16-bit numbers, heads of up to 128 and keys at their own positions.
# Other variants are close to the register limit and keep the one tile that fits
SPACES: Mapping[str, tuple[Config, ...]] = {
    "sparse_prefill_attention": _space(
        "rows keys warps stages",
        (128, 64, 8, 3), (128, 64, 8, 2), (128, 32, 8, 3), (64, 64, 8, 3), (64, 32, 4, 3),
    ),
    # programs: how many programs the splits of the keys should give for any batch; an H200 has 132 multiprocessors
    "sparse_decode_attention": _space(
        "keys warps stages programs",
        (64, 4, 3, 264), (64, 4, 3, 528), (64, 4, 5, 528), (64, 4, 7, 528), (32, 4, 3, 528), (128, 4, 2, 264),
    ),
    "question_scores": _space(
        "rows keys warps stages",
        (64, 64, 4, 2), (64, 64, 4, 3), (64, 64, 8, 3), (128, 64, 8, 2), (128, 64, 8, 3), (64, 32, 4, 3),
    ),
    "rope_shift": _space("tokens warps", (16, 4), (8, 2), (8, 4), (32, 4), (32, 8), (64, 8)),
    # with `cluster`: the CUDA kernel, otherwise the Triton one
    "select_tokens": (
        *_space("cluster warps", (8, 32), (8, 16)),
        *_space("block warps", (4096, 16), (1024, 8), (2048, 16), (8192, 16)),
    ),
    "page_summary": _space(
        "columns row_columns warps",
        (128, 512, 4), (128, 256, 4), (64, 256, 2), (256, 512, 4), (256, 1024, 8), (512, 1024, 8),
    ),
    # Triton computes the scores; with `cuda_warps`, CUDA does the selection
    "hierarchical_select": (
        *_space("pages columns score_warps cuda_warps", (16, 256, 4, 32), (16, 256, 4, 16), (8, 512, 4, 32)),
        *_space("pages columns score_warps select_warps", (16, 256, 4, 16), (16, 256, 4, 8), (8, 512, 4, 16)),
    ),
    "choose_pages": _space(
        "pages mass_warps list list_warps",
        (64, 4, 1024, 8), (32, 4, 1024, 8), (128, 8, 1024, 8), (64, 8, 1024, 16), (64, 4, 512, 4),
    ),
    "generation_uncertainty": _space(
        "block warps", (2048, 8), (1024, 4), (4096, 8), (4096, 16), (8192, 16), (8192, 32)
    ),
    "kv_deviation": _space("tokens warps", (16, 4), (8, 2), (8, 4), (32, 4), (32, 8), (64, 8)),
    # programs: at most this many multiprocessors are kept from computing during a copy
    "kv_copy": _space(
        "words warps programs", (1024, 4, 16), (1024, 4, 8), (1024, 4, 32), (2048, 8, 16), (512, 4, 32), (2048, 8, 32)
    ),
    "kv_fill": _space("rows warps", (16, 4), (8, 2), (8, 4), (32, 4), (32, 8)),
}  # fmt: skip
