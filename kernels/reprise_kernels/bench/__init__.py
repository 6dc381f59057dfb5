"""Times of the kernels beside the best that is there for the same work: `python -m reprise_kernels.bench`, on a GPU."""
