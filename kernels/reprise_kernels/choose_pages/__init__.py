"""The pages that get most of a decode step's attention: `choose_pages`."""

from reprise_kernels.choose_pages.dispatch import Due, choose_pages
from reprise_kernels.choose_pages.naive import naive_choose_pages, naive_page_scores

__all__ = ["Due", "choose_pages", "naive_choose_pages", "naive_page_scores"]
