"""The variants of the released kernels that are compiled ahead of time."""
