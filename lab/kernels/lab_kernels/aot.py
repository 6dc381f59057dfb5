"""Compiles every kernel without a GPU: `python -m lab_kernels.aot` writes the table; `--check` compares it with
the existing one and exits with 1 if they differ."""

import argparse
import importlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import triton
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompilationError, make_backend

from lab_kernels.launch.compile_spec import CompileSpec, CudaSpec
from lab_kernels.launch.launch_spaces import RELEASED, SPACES
from lab_kernels.launch.launch_table import describe, trying

TABLE = Path(__file__).resolve().parent.parent / "COMPILED.md"
# for 9.0 Triton compiles with the features of sm_90a
TARGETS = {"sm_90a": GPUTarget("cuda", 90, 32), "sm_80": GPUTarget("cuda", 80, 32)}
OPERATIONS = [
    "rope_shift",
    "sparse_prefill_attention",
    "sparse_decode_attention",
    "question_scores",
    "select_tokens",
    "page_summary",
    "hierarchical_select",
    "choose_pages",
    "generation_uncertainty",
    "kv_deviation",
    "weighted_deviation",
    "kv_copy",
    "kv_fill",
]
HEADING = """# What the compiler makes of the kernels

Written by `python -m lab_kernels.aot`, which needs no GPU; a test compares. A kernel with a stack would be one
whose registers do not suffice ("spills"): there must be none. A number behind the type is the size of a head, else 128.
Where there are no stages but the word CUDA, the kernel is in CUDA C++.

"""
TRIED = """
## What `python -m lab_kernels.tune` would try beside it

"""


@dataclass(frozen=True)
class Compiled:
    """The GPU resources that one kernel uses; `stages` is None for a CUDA kernel."""

    name: str
    target: str
    warps: int
    stages: int | None
    registers: int
    stack: int
    shared: int

    def row(self) -> list[str]:
        """Returns the kernel's row of the table."""
        stages = "CUDA" if self.stages is None else self.stages
        return [self.name, self.target, *map(str, (self.warps, stages, self.registers, self.shared, self.stack))]


def all_specs() -> list[CompileSpec | CudaSpec]:
    """Returns what to compile for every operation."""
    return [spec for name in OPERATIONS for spec in _module(name).compile_specs()]


def tried_specs() -> list[CompileSpec | CudaSpec]:
    """Returns what to compile for the configurations that `lab_kernels.tune` tries besides the chosen ones."""
    chosen = all_specs()
    tried = []
    for operation, space in SPACES.items():
        module = _module(operation)
        for config in space:
            with trying(operation, config):
                specs = module.tuned_specs()
            tried += [replace(spec, name=f"{spec.name}: {describe(config)}") for spec in specs if spec not in chosen]
    return tried


def _module(operation: str) -> ModuleType:
    place = f"compiled.{operation}" if operation in RELEASED else f"{operation}.compiled"
    return importlib.import_module(f"lab_kernels.{place}")


def compile_for(spec: CompileSpec, target: str) -> Compiled:
    """Compiles a Triton kernel, or takes it from Triton's cache. Raises what the compiler raises."""
    source = ASTSource(spec.kernel, spec.signature(), dict(spec.constants), spec.attributes())
    made = triton.compile(source, target=TARGETS[target], options=spec.options())
    registers, stack = _resources(made.asm["cubin"])
    return Compiled(spec.name, target, spec.warps, spec.stages, registers, stack, made.metadata.shared)


def compile_cuda(spec: CudaSpec) -> Compiled:
    """Compiles a CUDA kernel, always for sm_90a. Raises what the compiler raises."""
    registers, stack = _resources(spec.kernel.compile("sm_90a", spec.how.cluster))
    return Compiled(spec.name, "sm_90a", spec.how.warps, None, registers, stack, spec.how.shared_bytes)


def _resources(cubin: bytes) -> tuple[int, int]:
    """Returns registers per thread and stack bytes."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", file.name]
        usage = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    registers, stack = (int(re.search(rf"{name}:(\d+)", usage)[1]) for name in ("REG", "STACK"))
    return registers, stack


def reads_with_ones(spec: CompileSpec) -> str | None:
    """Returns why the kernel cannot be read if its integers are 1, which a launch turns into constants; None if it can.

    Neither the interpreter nor a compilation from types alone would show this.
    """
    ones = [name for name, kind in spec.types.items() if kind in ("i32", "i64")]
    signature = spec.signature() | dict.fromkeys(ones, "constexpr")
    source = ASTSource(spec.kernel, signature, {**spec.constants, **dict.fromkeys(ones, 1)})
    target = TARGETS["sm_90a"]
    backend = make_backend(target)
    options = backend.parse_options(spec.options())
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    try:
        source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    except CompilationError as error:
        return str(error).splitlines()[-1]
    return None


def render(compiled: list[Compiled]) -> str:
    """Returns one table of the file."""
    titles = ["kernel", "target", "warps", "stages", "registers", "shared bytes", "stack bytes"]
    rows = [titles, *(one.row() for one in compiled)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    rule = ["-" * width if i < 2 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    aligned = [_align(row, widths) for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (aligned[0], rule, *aligned[1:]))


def _align(row: list[str], widths: list[int]) -> list[str]:
    """Aligns words to the left, numbers to the right."""
    cells = enumerate(zip(row, widths, strict=True))
    return [cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in cells]


def _compile(specs: list[CompileSpec | CudaSpec]) -> list[Compiled]:
    compiled = []
    for number, spec in enumerate(specs, 1):
        print(f"[{number}/{len(specs)}] {spec.name}", file=sys.stderr)
        if isinstance(spec, CudaSpec):
            compiled.append(compile_cuda(spec))
        else:
            compiled += [compile_for(spec, target) for target in TARGETS]
    return compiled


def main() -> int:
    """Writes the table, or compares it."""
    parser = argparse.ArgumentParser(prog="python -m lab_kernels.aot", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the table that is there")
    check = parser.parse_args().check
    if knobs.runtime.interpret:
        print("TRITON_INTERPRET is set: nothing can be compiled", file=sys.stderr)
        return 1
    specs = all_specs()
    compiled, tried = _compile(specs), _compile(tried_specs())
    in_triton = [spec for spec in specs if isinstance(spec, CompileSpec)]
    unread = [f"{spec.name}, integers of 1: {why}" for spec in in_triton if (why := reads_with_ones(spec))]
    print("".join(f"{line}\n" for line in unread), end="", file=sys.stderr)
    spilling = [f"{one.name} for {one.target}: {one.stack} bytes of stack" for one in [*compiled, *tried] if one.stack]
    print("".join(f"{line}\n" for line in spilling), end="", file=sys.stderr)
    table = HEADING + render(compiled) + TRIED + render(tried)
    if not check:
        TABLE.write_text(table)
    elif TABLE.read_text() != table:
        print(f"{TABLE.name} is not what the compiler makes now; it should be\n{table}", file=sys.stderr)
        return 1
    return 1 if spilling or unread else 0


if __name__ == "__main__":
    sys.exit(main())
