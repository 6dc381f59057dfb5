"""Which pages of a long context a decode step reads: summaries of pages, and selectors that score them."""
