"""Launches of the kernels here: configurations to try, and CUDA C++."""
