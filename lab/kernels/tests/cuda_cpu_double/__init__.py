"""Stands in for a GPU: CUDA kernels compiled for the CPU with g++, their threads as fibers. See cuda_cpu_double.h."""

import ctypes
import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
import torch

from lab_kernels.launch.cuda_kernel import LANES, PACKAGE, Argument, CudaKernel, Launch

HERE = Path(__file__).resolve().parent
MESSAGE_BYTES = 200
COMPILER = shutil.which("g++")
# a separate generator, because hypothesis gives every example the same random numbers
_orders = random.Random(1)


def launch_on_cpu(kernel: CudaKernel, how: Launch, device: torch.device, arguments: Sequence[Argument]) -> None:
    """Replaces CudaKernel.launch. Fails if threads wait for each other forever, or write past shared memory."""
    if COMPILER is None:
        pytest.skip("g++ is not installed: kernels in CUDA cannot be run without a GPU")
    assert device.type == "cpu"
    given = [ctypes.c_void_p(one.data_ptr()) if isinstance(one, torch.Tensor) else one for one in arguments]
    pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(one) for one in given))
    message = ctypes.create_string_buffer(MESSAGE_BYTES)
    seed = ctypes.c_uint(_orders.getrandbits(32))
    function = _compile(kernel, how.cluster).launch_on_cpu
    if function(pointers, how.blocks, how.warps * LANES, how.shared_bytes, seed, message, MESSAGE_BYTES):
        raise AssertionError(f"{kernel.name}, seed {seed.value}: {message.value.decode()}")


@cache
def _compile(kernel: CudaKernel, cluster: int) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        # the original sources, except for the one header that accesses the hardware
        shutil.copytree(PACKAGE / "cuda", Path(folder, "cuda"))
        shutil.copy(HERE / "cluster.cuh", Path(folder, "cuda"))
        shutil.copytree(kernel.source.parent, Path(folder, kernel.name))
        library = Path(folder, "kernel.so")
        source = f'-DSOURCE="{kernel.name}/{kernel.source.name}"'
        options = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
        given = [source, f"-DKERNEL={kernel.name}", f"-DCLUSTER={cluster}", f"-I{folder}", f"-I{HERE}"]
        subprocess.run([COMPILER, *options, *given, str(HERE / "launch.cpp"), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))
