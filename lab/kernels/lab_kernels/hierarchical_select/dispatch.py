"""hierarchical_select: checks its arguments and launches the two kernels."""

import ctypes
from pathlib import Path

import torch
import triton

from lab_kernels.hierarchical_select.hierarchy import Hierarchy
from lab_kernels.hierarchical_select.triton import hierarchical_select_kernel, score_pages_kernel
from lab_kernels.launch.cuda_kernel import CudaKernel, Launch, fits
from lab_kernels.launch.launch_spaces import Config, first_with, launch_config
from reprise_kernels.launch.checks import FLOATS, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device

# limit of the Triton selection, padding included: with more pages the compiler needs a stack
MOST_PAGES = 4096
INTERPRETED = {"pages": 16, "columns": 64, "score_warps": 4, "select_warps": 16}
HIERARCHICAL_SELECT = CudaKernel("hierarchical_select", Path(__file__).with_name("hierarchical_select.cu"))
# a thread block's shared memory before its scores
SCRATCH_BYTES = 3204


def hierarchical_select(
    anchor: torch.Tensor,
    summaries: torch.Tensor,
    page_table: torch.Tensor,
    page_count: torch.Tensor,
    hierarchy: Hierarchy,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the pages to read for each request and how many, as specified by `naive_hierarchical_select`.

    Two launches whose sizes do not depend on the requests' lengths. `sparse_decode_attention` takes the result as is.
    """
    check_runnable(anchor)
    check_tensor("anchor", anchor, (None, None), FLOATS)
    check_tensor("summaries", summaries, (None, anchor.shape[1]), FLOATS, anchor.device)
    check_index("page_table", page_table, (len(anchor), None), anchor.device)
    check_index("page_count", page_count, (len(anchor),), anchor.device)
    if anchor.stride(1) != 1 or summaries.stride(1) != 1:
        raise ValueError(f"anchor has strides {anchor.stride()} and summaries {summaries.stride()}: the last must be 1")
    requests, width = page_table.shape
    sizes = padded_sizes(width, hierarchy)
    config = launch_config("hierarchical_select", INTERPRETED)
    in_cuda = config if "cuda_warps" in config else first_with("hierarchical_select", "cuda_warps")
    how = cuda_launch(requests, width, hierarchy, in_cuda)
    too_many = sizes[0] * sizes[1] * sizes[2] > MOST_PAGES
    goes_by_cuda = ("cuda_warps" in config or too_many) and fits(how, anchor.device)
    if too_many and not goes_by_cuda:
        raise ValueError(
            f"{width} pages, padded to {sizes}, are more than the {MOST_PAGES} that a program in Triton holds, "
            f"and {how.shared_bytes} bytes of shared memory are more than the kernel in CUDA can have here"
        )
    chosen = torch.empty((requests, width), dtype=torch.int32, device=anchor.device)
    count = torch.empty((requests,), dtype=torch.int32, device=anchor.device)
    if requests == 0 or width == 0:
        return chosen, count.zero_()
    scores = torch.empty((requests, width), dtype=torch.float32, device=anchor.device)
    with on_device(anchor):
        score_pages_kernel[(triton.cdiv(width, config["pages"]), requests)](
            anchor, summaries, page_table, page_count, scores, anchor.shape[1],
            anchor.stride(0), summaries.stride(0), width, scores.stride(0), hierarchy.recent,
            BLOCK_P=config["pages"], BLOCK_C=config["columns"], num_warps=config["score_warps"],
        )  # fmt: skip
    numbers = (width, hierarchy.sinks, hierarchy.recent, *hierarchy.dropped_per_million())
    if goes_by_cuda:
        numbers += (hierarchy.pages, hierarchy.chunks, int(hierarchy.among_active))
        given = (scores, page_count, chosen, count, *map(ctypes.c_int, numbers))
        HIERARCHICAL_SELECT.launch(how, anchor.device, given)
        return chosen, count
    config = config if "select_warps" in config else first_with("hierarchical_select", "select_warps")
    with on_device(anchor):
        hierarchical_select_kernel[(requests,)](
            scores, page_count, chosen, count, scores.stride(0), chosen.stride(0), *numbers,
            CHUNKS=hierarchy.chunks, PAGES=hierarchy.pages, AMONG_ACTIVE=hierarchy.among_active,
            BLOCK_G=sizes[0], BLOCK_CH=sizes[1], BLOCK_P=sizes[2], num_warps=config["select_warps"],
        )  # fmt: skip
    return chosen, count


def cuda_launch(requests: int, width: int, hierarchy: Hierarchy, config: Config) -> Launch:
    """One thread block per request, with a score and a flag for each page, chunk and grid."""
    chunks = triton.cdiv(width, hierarchy.pages)
    units = width + chunks + triton.cdiv(chunks, hierarchy.chunks)
    return Launch(requests, config["cuda_warps"], SCRATCH_BYTES + 5 * units)


def padded_sizes(pages: int, hierarchy: Hierarchy) -> tuple[int, int, int]:
    """Grids, chunks per grid and pages per chunk, as powers of 2 large enough for `pages` pages."""
    grids = triton.cdiv(pages, hierarchy.chunks * hierarchy.pages)
    return tuple(triton.next_power_of_2(size) for size in (grids, hierarchy.chunks, hierarchy.pages))
