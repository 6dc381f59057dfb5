"""choose_pages: checks its arguments and launches the three kernels."""

import math
from dataclasses import dataclass

import torch
import triton

from reprise_kernels.choose_pages.triton import list_pages_kernel, page_mass_kernel, page_score_kernel
from reprise_kernels.launch.checks import FLOATS, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import launch_config, on_device

INTERPRETED = {"pages": 16, "mass_warps": 4, "list": 32, "list_warps": 4}
# pages that a program of page_score_kernel takes at a time, and numbers that one of page_mass_kernel multiplies
SCORE_PAGES = 64
_TILE = 4096
# a launch's programs, which share the pages of all requests that choose: if none does, they end at once
_PROGRAMS = 1024


@dataclass(slots=True)
class Due:
    """The requests of a step, for all layers. A CUDA graph keeps its addresses: a caller fills the tensors anew."""

    where: torch.Tensor
    """int32 [S, 5]: row of the query, slot, complete pages, pages to list (at most as many), row of the table"""
    source: torch.Tensor
    """int32 [S, W]: the blocks of their contexts"""
    most: int
    """at least the most complete pages of any, at most W"""
    count: torch.Tensor
    """int32 [1]: how many choose, the first ones of S; the lists of the others are kept"""
    _checked: object = None
    """the layout of tensors that fit"""
    _scratch: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    """mass [S, heads, P], parts [S, heads, blocks, 2] and scores [S, P], which one layer after the other writes"""


def choose_pages(
    query: torch.Tensor, moments: torch.Tensor, due: Due, tokens: int, scale: float, sinks: int, recent: int,
    chosen: torch.Tensor, table: torch.Tensor, *, only_list: bool = False,
) -> None:  # fmt: skip
    """Writes the blocks of the pages that `naive_choose_pages` specifies, in the order of the pages.

    query    [T, Hq, D]; moments float32 [slots, H, 2 D, P]
    chosen   int32 [slots, N]: a request's blocks are written to the start of its slot's row, or read from there
    table    int32 [rows, N]: and written to the start of its own row
    only_list  the caller knows that none chooses: one launch writes the table

    Three launches whose sizes depend on no request: they can be captured once for all steps. Nothing waits for the
    device. All layers of a step must be on one stream, because they share scratch memory.
    """
    # the host launches this for every layer of a step, so it checks layouts alike only once
    layout = tuple((one.shape, one.stride(), one.dtype) for one in (query, moments, chosen, table))
    if due._checked != layout:
        _check(query, moments, due, chosen, table)
        due._checked = layout
    if len(due.where) == 0 or due.most == 0:
        return
    _, heads, head_dim = query.shape
    _, key_heads, _, pages = moments.shape
    config = launch_config("choose_pages", INTERPRETED)
    size, group = config["pages"], heads // key_heads
    blocks = triton.cdiv(pages, size)
    if due._scratch is None or due._scratch[0].shape[1:] != (heads, pages):
        sizes = ((heads, pages), (heads, blocks, 2), (pages,))
        due._scratch = tuple(torch.empty((len(due.where), *size), device=query.device) for size in sizes)
    mass, parts, scores = due._scratch
    padded, requests = triton.next_power_of_2(group), len(due.where)
    with on_device(query):
        if not only_list:
            page_mass_kernel[_grid(triton.cdiv(due.most, size), requests, key_heads)](
                query, moments, due.where, due.count, mass, parts, scale, math.sqrt(2 * math.log(tokens)),
                query.stride(0), query.stride(1), *moments.stride()[:3], pages, blocks,
                GROUP=group, HEAD_DIM=head_dim, BLOCK_G=padded, BLOCK_D=block_dim(padded, head_dim, size),
                BLOCK_P=size, num_warps=config["mass_warps"],
            )  # fmt: skip
            across, _, down = _grid(triton.cdiv(due.most, SCORE_PAGES), requests, 1)
            page_score_kernel[(across, down)](
                mass, parts, due.where, due.count, scores, pages, blocks, sinks, recent,
                HEADS=heads, BLOCK_H=triton.next_power_of_2(heads), BLOCK_N=triton.next_power_of_2(blocks),
                MASS_P=size, BLOCK_P=SCORE_PAGES, num_warps=4,
            )  # fmt: skip
        list_pages_kernel[(requests,)](
            scores, due.where, due.count, due.source, chosen, table,
            pages, due.source.stride(0), chosen.stride(0), table.stride(0),
            BLOCK=config["list"], num_warps=config["list_warps"],
        )  # fmt: skip


def _grid(blocks: int, requests: int, heads: int) -> tuple[int, int, int]:
    """Returns how many programs share the blocks of a request, its heads, and requests."""
    across = min(blocks, max(1, _PROGRAMS // heads))
    return across, heads, min(requests, max(1, _PROGRAMS // (across * heads)))


def _check(query: torch.Tensor, moments: torch.Tensor, due: Due, chosen: torch.Tensor, table: torch.Tensor) -> None:
    check_runnable(query)
    check_tensor("query", query, (None, None, None), FLOATS)
    heads, head_dim = query.shape[1], query.shape[2]
    check_tensor("moments", moments, (None, None, 2 * head_dim, None), (torch.float32,), query.device)
    requests, width = due.source.shape
    check_index("where", due.where, (requests, 5), query.device)
    check_index("count", due.count, (1,), query.device)
    check_tensor("source", due.source, (None, None), (torch.int32,), query.device)
    check_tensor("chosen", chosen, (len(moments), None), (torch.int32,), query.device)
    check_tensor("table", table, (None, None), (torch.int32,), query.device)
    if any(one.stride(-1) != 1 for one in (query, moments, due.source, chosen, table)):
        raise ValueError("the last dimension of every tensor must be contiguous")
    if heads % moments.shape[1]:
        raise ValueError(f"query has {heads} heads, moments {moments.shape[1]}: as many must go to each")
    if not 0 <= due.most <= min(width, moments.shape[3]):
        raise ValueError(f"up to {due.most} pages, but source has {width} and moments {moments.shape[3]}")


def block_dim(group: int, head_dim: int, pages: int) -> int:
    """Returns how many numbers of a head `page_mass_kernel` reads at a time, for a padded group of query heads."""
    return max(1, min(_TILE // (group * pages), triton.next_power_of_2(head_dim)))
