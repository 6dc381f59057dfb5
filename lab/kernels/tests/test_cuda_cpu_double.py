"""The double that runs CUDA kernels without a GPU finds the errors it is meant to find."""

import ctypes
import shutil
from pathlib import Path

import pytest
import torch
from cuda_cpu_double import launch_on_cpu

from lab_kernels.launch.cuda_kernel import CudaKernel, Launch

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
WARPS = 2
TURN_ROUND = """
#include "../cuda/cluster.cuh"
extern "C" __global__ void turn_round(int *numbers, int count) {
  int *shared = reinterpret_cast<int *>(shared_memory());
  shared[threadIdx.x] = numbers[threadIdx.x];
  BARRIER
  numbers[threadIdx.x] = shared[(count - 1) - threadIdx.x];
}
"""


def turn_round(folder: Path, barrier: str, shared_numbers: int = 64) -> list[int]:
    """Reverses the numbers from 0 to 63, with `barrier` between writing and reading."""
    source = folder / "turn_round" / "turn_round.cu"
    source.parent.mkdir()
    source.write_text(TURN_ROUND.replace("BARRIER", barrier))
    numbers = torch.arange(64, dtype=torch.int32)
    kernel = CudaKernel("turn_round", source)
    launch_on_cpu(kernel, Launch(1, WARPS, 4 * shared_numbers), torch.device("cpu"), [numbers, ctypes.c_int(64)])
    return numbers.tolist()


def test_threads_see_behind_a_barrier_what_others_wrote_before_it(tmp_path):
    assert turn_round(tmp_path, "__syncthreads();") == list(range(63, -1, -1))


def test_without_the_barrier_the_result_is_wrong(tmp_path):
    assert turn_round(tmp_path, "") != list(range(63, -1, -1))


def test_a_barrier_that_some_threads_never_reach_fails(tmp_path):
    with pytest.raises(AssertionError, match="wait at a barrier that others never reach"):
        turn_round(tmp_path, "if (threadIdx.x < 7) __ballot_sync(0xffffffffu, true);")


def test_lanes_that_meet_at_different_operations_fail(tmp_path):
    with pytest.raises(AssertionError, match="should meet are at"):
        turn_round(tmp_path, "if (threadIdx.x % 2) __ballot_sync(~0u, true); else __shfl_sync(~0u, 1, 0);")


def test_writing_past_the_shared_memory_that_was_asked_for_fails(tmp_path):
    with pytest.raises(AssertionError, match="writes past its shared memory"):
        turn_round(tmp_path, "__syncthreads();", shared_numbers=60)
