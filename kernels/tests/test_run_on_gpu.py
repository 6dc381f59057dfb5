"""The script for a machine with a GPU: what it can be asked for, and what it says where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import DEVICE

SCRIPT = Path(__file__).resolve().parent.parent / "run-on-gpu.sh"
RESULTS = SCRIPT.parent / "benchmarks" / "results"


def run(*steps: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """What the script says and returns."""
    env = {**os.environ, "PYTHON": python}
    return subprocess.run([str(SCRIPT), *steps], env=env, capture_output=True, text=True)


def results() -> list[Path]:
    """What lies among the results."""
    return sorted(RESULTS.rglob("*"))


def test_the_script_is_sound_for_bash():
    assert subprocess.run(["bash", "-n", str(SCRIPT)], capture_output=True, text=True).stderr == ""


@pytest.mark.skipif(DEVICE == "cuda", reason="there is a GPU")
@pytest.mark.parametrize("steps", [(), ("tune",)])
def test_without_a_gpu_it_says_so_in_one_line_fails_and_writes_nothing(steps):
    before = results()
    done = run(*steps)
    assert done.returncode == 1
    assert done.stderr == "run-on-gpu: there is no CUDA device: nothing is run, and nothing is written\n"
    assert done.stdout == ""
    assert results() == before


def test_a_step_that_is_none_is_refused_by_name():
    done = run("bench", "measure")
    assert done.returncode == 2
    assert done.stderr == "run-on-gpu: there is no step measure: sanitize, tune, bench\n"


def test_an_interpreter_that_is_not_there_is_named(tmp_path):
    done = run(python=str(tmp_path / "python"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"run-on-gpu: {tmp_path}/python cannot be run: PYTHON names the interpreter"


def test_what_an_interpreter_lacks_is_named(tmp_path):
    bare = tmp_path / "python"
    # isolated and without site-packages: as one in which nothing is installed
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    done = run(python=str(bare))
    assert done.returncode == 1
    assert "lacks torch, triton, pytest, hypothesis, numpy" in done.stderr
