"""What a kernel is compiled with ahead of time: the types and constants that a launch would give it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lab_kernels.launch.cuda_kernel import CudaKernel, Launch

TRITON_NAMES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


@dataclass(frozen=True)
class CompileSpec:
    """One kernel with one set of types and constants, as it runs in a model the size of Llama-3.1-8B.

    `types` gives the types of all arguments that are not constants ("*bf16", "i32"). Pointers, and the integers named
    in `even`, are assumed to be divisible by 16, as they are in a launch. `fuses`: products may be fused with sums.
    """

    name: str
    kernel: Any
    types: Mapping[str, str]
    constants: Mapping[str, Any]
    warps: int
    stages: int = 3
    even: tuple[str, ...] = field(default=())
    fuses: bool = True

    def signature(self) -> dict[str, str]:
        """Returns the types of all arguments in order, in Triton's form."""
        return {name: self.types.get(name, "constexpr") for name in self.kernel.arg_names}

    def attributes(self) -> dict[tuple[int, ...], list[list[Any]]]:
        """Returns the known divisibility of arguments, in Triton's form."""
        names = self.kernel.arg_names
        divisible = [name for name, kind in self.types.items() if kind.startswith("*") or name in self.even]
        return {(names.index(name),): [["tt.divisibility", 16]] for name in divisible}

    def options(self) -> dict[str, Any]:
        """Returns the launch options other than the arguments, in Triton's form."""
        return {"num_warps": self.warps, "num_stages": self.stages, "enable_fp_fusion": self.fuses}


@dataclass(frozen=True)
class CudaSpec:
    """One CUDA C++ kernel, as it is launched in a model the size of Llama-3.1-8B."""

    name: str
    kernel: CudaKernel
    how: Launch
