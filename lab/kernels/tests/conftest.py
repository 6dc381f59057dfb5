"""As for the released kernels; those in CUDA run on a double where there is no GPU."""

import os
import sys
from collections.abc import Iterator

import pytest
from without_gpu import HAS_GPU, pytest_collection_modifyitems

__all__ = ["pytest_collection_modifyitems"]

# for the processes that tests start
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)


@pytest.fixture(autouse=True, scope="session")
def cuda_kernels_run_on_a_cpu_double_where_there_is_no_gpu() -> Iterator[None]:
    """Replaces the launch of CUDA kernels."""
    if HAS_GPU:
        yield
        return
    from cuda_cpu_double import launch_on_cpu

    from lab_kernels.launch.cuda_kernel import CudaKernel

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CudaKernel, "launch", launch_on_cpu)
        yield
