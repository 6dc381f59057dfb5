"""What a kernel is compiled with ahead of time: the types and constants that a launch would give it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reprise_kernels.cuda_kernel import CudaKernel, Launch

TRITON_NAMES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


@dataclass(frozen=True)
class CompileSpec:
    """One kernel with one set of types and constants, as it runs in a model of the size of Llama-3.1-8B.

    `types` names those of all arguments that are no constants ("*bf16", "i32"); pointers, and integers named in
    `even`, are taken to be divisible by 16, as the launch finds them. `fuses`: products may be fused with sums.
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
        """The types of all arguments in their order, as Triton wants them."""
        return {name: self.types.get(name, "constexpr") for name in self.kernel.arg_names}

    def attributes(self) -> dict[tuple[int, ...], list[list[Any]]]:
        """What is known of arguments' divisibility, as Triton wants it."""
        names = self.kernel.arg_names
        divisible = [name for name, kind in self.types.items() if kind.startswith("*") or name in self.even]
        return {(names.index(name),): [["tt.divisibility", 16]] for name in divisible}

    def options(self) -> dict[str, Any]:
        """What the launch says beside the arguments, as Triton wants it."""
        return {"num_warps": self.warps, "num_stages": self.stages, "enable_fp_fusion": self.fuses}


@dataclass(frozen=True)
class CudaSpec:
    """One kernel in CUDA C++, as it is launched in a model of the size of Llama-3.1-8B."""

    name: str
    kernel: CudaKernel
    how: Launch
