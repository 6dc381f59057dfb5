"""Times the kernels against the best alternative for the same work: `python -m lab_kernels.bench`, on a GPU."""
