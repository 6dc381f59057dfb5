"""What all tests of kernels need on a machine without a GPU."""

from without_gpu import pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]
