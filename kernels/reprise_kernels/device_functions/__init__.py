"""Triton functions that several kernels call."""
