"""CUDA C++ kernels: compiled with NVRTC when a device first needs them, launched on torch's current stream.

Both libraries come with torch (cuda-bindings, nvrtc), so nothing is built when the package is installed.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

PACKAGE = Path(__file__).resolve().parent.parent
LANES = 32
# shared memory that a thread block may use without requesting it
USUAL_SHARED_BYTES = 48 << 10
# assumed by the tests without a GPU
H200_SHARED_BYTES = 227 << 10

Argument = torch.Tensor | ctypes.c_int | ctypes.c_longlong | ctypes.c_double


@dataclass(frozen=True)
class Launch:
    """The number of thread blocks, warps per block, blocks per cluster, and dynamic shared memory per block."""

    blocks: int
    warps: int
    shared_bytes: int
    cluster: int = 1


@dataclass(frozen=True)
class CudaKernel:
    """The kernel `name` in a file of this package."""

    name: str
    source: Path

    def compile(self, architecture: str, cluster: int) -> bytes:
        """Returns machine code for e.g. "sm_90a"; needs no GPU. Raises ValueError with the compiler's message."""
        from cuda.bindings import nvrtc

        program = _checked(nvrtc.nvrtcCreateProgram(self.source.read_bytes(), self.source.name.encode(), 0, [], []))
        options = [f"--gpu-architecture={architecture}", f"-DCLUSTER={cluster}", f"-I{self.source.parent}"]
        # the compiler does not infer by itself that a generic lambda is for the device
        options += ["--std=c++17", "--device-as-default-execution-space"]
        if nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])[0]:
            log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
            nvrtc.nvrtcGetProgramLog(program, log)
            raise ValueError(f"{self.source.name} for {architecture}: {log.decode().rstrip(chr(0))}")
        code = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program)))
        nvrtc.nvrtcGetCUBIN(program, code)
        nvrtc.nvrtcDestroyProgram(program)
        return bytes(code)

    def launch(self, how: Launch, device: torch.device, arguments: Sequence[Argument]) -> None:
        """Launches the kernel on a GPU: passes tensors by address, numbers by value. Does not wait."""
        from cuda.bindings import driver, runtime

        with torch.cuda.device(device):
            number = torch.cuda.current_device()
            # a thread that has not called CUDA yet has no context
            _checked(runtime.cudaSetDevice(number))
            function = _function(self, how.cluster, number)
            if how.shared_bytes > USUAL_SHARED_BYTES:
                most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                _checked(driver.cuFuncSetAttribute(function, most, how.shared_bytes))
            values = tuple(one.data_ptr() if isinstance(one, torch.Tensor) else one.value for one in arguments)
            types = tuple(ctypes.c_void_p if isinstance(one, torch.Tensor) else type(one) for one in arguments)
            stream = torch.cuda.current_stream().cuda_stream
            threads = how.warps * LANES
            _checked(
                driver.cuLaunchKernel(
                    function, how.blocks, 1, 1, threads, 1, 1, how.shared_bytes, stream, (values, types), 0
                )
            )


def fits(how: Launch, device: torch.device) -> bool:
    """Whether the device has clusters, if needed, and enough shared memory per block. Without NVIDIA's bindings,
    which come with torch since 2.10, nothing fits."""
    if device.type != "cuda":
        return how.shared_bytes <= H200_SHARED_BYTES
    properties = torch.cuda.get_device_properties(device)
    has_clusters = properties.major >= 9
    has_room = how.shared_bytes <= properties.shared_memory_per_block_optin
    return _has_bindings() and (how.cluster == 1 or has_clusters) and has_room


@cache
def _has_bindings() -> bool:
    return find_spec("cuda") is not None and find_spec("cuda.bindings") is not None


@cache
def _function(kernel: CudaKernel, cluster: int, device: int) -> Any:
    from cuda.bindings import driver

    major, minor = torch.cuda.get_device_capability(device)
    code = kernel.compile(f"sm_{major}{minor}{'a' if major >= 9 else ''}", cluster)
    return _checked(driver.cuModuleGetFunction(_checked(driver.cuModuleLoadData(code)), kernel.name.encode()))


def _checked(result: tuple) -> Any:
    """Returns the value of a library call without its status. Raises RuntimeError if the call failed."""
    status, *values = result
    if int(status):
        raise RuntimeError(f"{status.name}")
    return values[0] if values else None
