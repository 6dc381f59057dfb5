"""Kernels in CUDA C++: compiled with NVRTC when a device first needs them, launched behind torch's current stream.

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

PACKAGE = Path(__file__).resolve().parent
LANES = 32
# of a thread block's shared memory, what may be used without being asked for
USUAL_SHARED_BYTES = 48 << 10
# what the tests without a GPU go by
H200_SHARED_BYTES = 227 << 10

Argument = torch.Tensor | ctypes.c_int | ctypes.c_longlong | ctypes.c_double


@dataclass(frozen=True)
class Launch:
    """How many thread blocks of how many warps, how many of them a cluster, and the dynamic shared memory of each."""

    blocks: int
    warps: int
    shared_bytes: int
    cluster: int = 1


@dataclass(frozen=True)
class CudaKernel:
    """The kernel `name` of a file of this package."""

    name: str
    source: Path

    def compile(self, architecture: str, cluster: int) -> bytes:
        """The machine code for "sm_90a", say; needs no GPU. Raises ValueError with what the compiler says."""
        from cuda.bindings import nvrtc

        program = _checked(nvrtc.nvrtcCreateProgram(self.source.read_bytes(), self.source.name.encode(), 0, [], []))
        options = [f"--gpu-architecture={architecture}", f"-DCLUSTER={cluster}", f"-I{self.source.parent}"]
        # of a generic lambda the compiler does not see by itself that it is for the device
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
        """Launches it on a GPU: tensors are given as where they lie, numbers as they are. Nothing waits."""
        from cuda.bindings import driver, runtime

        with torch.cuda.device(device):
            number = torch.cuda.current_device()
            # a thread that has called nothing of CUDA has no context yet
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
    """Whether the device has clusters, if they are wanted, and so much shared memory for a block; without NVIDIA's
    bindings, which torch brings since 2.10, nothing fits."""
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
    """What a call of the libraries returns behind its status; raises RuntimeError where that is no success."""
    status, *values = result
    if int(status):
        raise RuntimeError(f"{status.name}")
    return values[0] if values else None
