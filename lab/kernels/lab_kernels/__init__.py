"""Kernels that no plugin calls, and the benchmark, tuning and compilation of all."""
