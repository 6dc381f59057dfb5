"""Runs a few examples of every operation's own tests under compute-sanitizer: finds errors that only a GPU can make."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab_kernels.aot import OPERATIONS, TABLE
from lab_kernels.launch.launch_spaces import RELEASED

HERE = Path(__file__).resolve().parent
TESTS = {name: HERE.parents[2] / "kernels" / "tests" if name in RELEASED else HERE for name in OPERATIONS}
FOUND_ERRORS = 77
LONGEST_SECONDS = 200


def find_sanitizer() -> str | None:
    """Returns the path of compute-sanitizer: on PATH, or in the CUDA toolkit at CUDA_HOME or the usual place."""
    places = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin", Path("/usr/local/cuda/bin")]
    return shutil.which("compute-sanitizer", path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, places)]))


def operations_with_shared_memory() -> set[str]:
    """Operations with shared memory according to COMPILED.md: programs without it cannot race in it."""
    rows = [line.split("|")[1:-1] for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    kernels = {row[0].strip() for row in rows if row[5].strip().isdigit() and int(row[5])}
    return {operation for operation in OPERATIONS if any(kernel.startswith(operation) for kernel in kernels)}


def command(sanitizer: str, tool: str, operations: set[str]) -> list[str]:
    """Returns the command that runs the tests of these operations; it exits with FOUND_ERRORS if the tool finds any."""
    watch = [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND_ERRORS), "--target-processes", "application-only"]
    if tool == "memcheck":
        # ignore calls that fail on purpose, such as those that ask what a pointer is
        watch += ["--report-api-errors", "no"]
    files = [str(TESTS[operation] / f"test_{operation}.py") for operation in OPERATIONS if operation in operations]
    return [*watch, sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--hypothesis-profile=few", *files]


TOOLS = {"memcheck": set(OPERATIONS), "racecheck": operations_with_shared_memory()}


def test_every_operation_has_tests_to_watch_and_those_with_shared_memory_are_watched_for_races():
    watched = command("compute-sanitizer", "memcheck", TOOLS["memcheck"])
    files = [Path(word) for word in watched if word.endswith(".py")]
    assert len(files) == len(OPERATIONS)
    assert all(file.exists() for file in files)
    # these move keys and pages in registers
    assert set(OPERATIONS) - TOOLS["racecheck"] == {"rope_shift", "kv_copy", "kv_fill"}


@pytest.mark.gpu
@pytest.mark.sanitizer
@pytest.mark.skipif(find_sanitizer() is None, reason="compute-sanitizer is not installed")
@pytest.mark.parametrize("tool", TOOLS)
def test_compute_sanitizer_finds_nothing(tool):
    sanitizer = find_sanitizer()
    assert sanitizer is not None
    # a separate allocation per tensor, so that the memory after it belongs to nobody
    env = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    done = subprocess.run(
        command(sanitizer, tool, TOOLS[tool]), env=env, capture_output=True, text=True, timeout=LONGEST_SECONDS
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-4000:]}"
