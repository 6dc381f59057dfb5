"""Times the kernels against the best alternative for the same work: `python -m reprise_kernels.bench`, on a GPU."""
