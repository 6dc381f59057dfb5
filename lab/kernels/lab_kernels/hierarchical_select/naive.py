"""The specification of hierarchical_select, in float64 on the CPU, following CHESS's Algorithm 1."""

import torch

from lab_kernels.hierarchical_select.hierarchy import MILLION, Hierarchy
from lab_kernels.page_summary.naive import naive_mean_rows


def naive_hierarchical_select(
    anchor: torch.Tensor,
    summaries: torch.Tensor,
    page_table: torch.Tensor,
    page_count: torch.Tensor,
    hierarchy: Hierarchy,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the pages to read, by number in the request, ascending, then -1: int32 [B, P]; and their count [B].

    anchor     [B, C] represents the text being written; summaries [R, C] a vector for each physical page
    page_table [B, P] each request's pages; page_count [B] how many it has, at most P

    All pages before the last `recent` ones are candidates; their chunks and grids are those of equation 2. From the
    grids down, a unit u is kept if its parent is and S(u) = anchor . v_u (equation 4) reaches the level's quantile 1 -
    share.

    The quantile. Algorithm 1 keeps S >= Quantile(S, q). No score lies between those of ranks floor(r) and ceil(r), with
    r = q (n - 1). So it keeps exactly the scores that reach the one of rank ceil(r), counted in ascending order from 0.
    Nothing is interpolated, and the answer is the same in any precision. q is in millionths.
    """
    chosen = torch.full(page_table.shape, -1, dtype=torch.int32)
    counts = torch.zeros(len(page_table), dtype=torch.int32)
    for b, count in enumerate(page_count.tolist()):
        kept = _kept_of_one(anchor[b].double(), summaries[page_table[b, :count].long()].double(), hierarchy)
        counts[b] = len(kept)
        chosen[b, : len(kept)] = torch.tensor(kept, dtype=torch.int32)
    return chosen, counts


def _kept_of_one(anchor: torch.Tensor, pages: torch.Tensor, hierarchy: Hierarchy) -> list[int]:
    candidates = max(len(pages) - hierarchy.recent, 0)
    always = set(range(min(hierarchy.sinks, len(pages)))) | set(range(candidates, len(pages)))
    if candidates == 0:
        return sorted(always)
    # the vectors of all levels one after another, and one product for all of them
    chunks = naive_mean_rows(pages[None], torch.tensor([candidates]), hierarchy.pages, None)[0]
    chunks = chunks[: -(-candidates // hierarchy.pages)]
    grids = naive_mean_rows(chunks[None], torch.tensor([len(chunks)]), hierarchy.chunks, None)[0]
    scores = torch.cat([grids, chunks, pages[:candidates]]) @ anchor
    levels = scores.split([len(grids), len(chunks), candidates])
    parents = (torch.zeros(len(grids)), torch.arange(len(chunks)) // hierarchy.chunks)
    parents = (*parents, torch.arange(candidates) // hierarchy.pages)
    kept = torch.ones(1, dtype=torch.bool)
    for level, parent, dropped in zip(levels, parents, hierarchy.dropped_per_million(), strict=True):
        active = kept[parent.long()]
        kept = active & (level >= _threshold(level, active, dropped, hierarchy.among_active))
    return sorted(always | set(kept.nonzero()[:, 0].tolist()))


def _threshold(scores: torch.Tensor, active: torch.Tensor, dropped: int, among_active: bool) -> float:
    counted = scores[active] if among_active else torch.where(active, scores, 0.0)
    rank = -(-(len(counted) - 1) * dropped // MILLION)
    return float(counted.sort().values[rank]) if len(counted) else 0.0
