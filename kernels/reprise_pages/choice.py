"""From scores to page lists: how many pages, and which. Vectorised over requests; nothing waits for the device."""

import numpy as np
import torch

NEVER, ALWAYS = -torch.inf, torch.inf


def budget_pages(full: np.ndarray, ratio: np.ndarray, sinks: int, recent: int) -> np.ndarray:
    """Returns how many of each request's full pages to list: int64 [S].

    full   int64 [S], full pages of a request
    ratio  float [S], share of them, 0 to 1; the first `sinks` and the last `recent` pages are always listed
    """
    return np.minimum(full, np.maximum(sinks + recent, np.rint(ratio * full).astype(np.int64)))


def pages_between(
    slots: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Lists pages [begin, end) of each request (int64 [S]) one by one: the request's row, its slot, the page's number.

    slots  int64 [S]
    """
    counts = np.maximum(end - begin, 0)
    row = np.repeat(np.arange(len(slots)), counts)
    # 0, 1, 2, … within each request
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return row, slots[row], begin[row] + within


def always_listed(full: torch.Tensor, width: int, sinks: int, recent: int) -> torch.Tensor:
    """Returns the bias to add to the scores of a request's pages: float32 [S, width].

    It is `ALWAYS` for its sinks and recent pages, `NEVER` after its `full` (int64 [S]) pages, 0 for pages that compete.
    """
    page, end = torch.arange(width, device=full.device), full[:, None]
    kept = (page < sinks) | (page >= end - recent)
    bias = torch.zeros(kept.shape, device=full.device).masked_fill_(kept, ALWAYS)
    return bias.masked_fill_(page >= end, NEVER)


def best_pages(scores: torch.Tensor, always: torch.Tensor, most: int) -> torch.Tensor:
    """Returns the numbers of the `most` best pages of each request, best first: int64 [S, most].

    A request that may list fewer pages takes the first ones of its row.

    scores  float [S, P], finite; always float32 [S, P], from `always_listed`
    """
    return (scores + always).topk(most, dim=-1).indices
