"""Which pages of a long context a decode step reads: page summaries, and selectors that score them."""
