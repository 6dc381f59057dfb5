"""Vectors that represent pages, chunks, grids and the recent window: `page_summary` and `mean_rows`."""

from lab_kernels.page_summary.dispatch import mean_rows, page_summary, recent_anchor
from lab_kernels.page_summary.naive import naive_mean_rows, naive_page_summary, naive_recent_anchor

__all__ = [
    "mean_rows",
    "naive_mean_rows",
    "naive_page_summary",
    "naive_recent_anchor",
    "page_summary",
    "recent_anchor",
]
