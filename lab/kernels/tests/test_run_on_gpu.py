"""The script for a machine with a GPU: its arguments, and its message if there is no GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import DEVICE

SCRIPT = Path(__file__).resolve().parents[3] / "kernels" / "run-on-gpu.sh"
RESULTS = Path(__file__).resolve().parent.parent / "results"


def run(*steps: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Runs the script and captures its output and exit code."""
    env = {**os.environ, "PYTHON": python}
    return subprocess.run([str(SCRIPT), *steps], env=env, capture_output=True, text=True)


def results() -> list[Path]:
    """Returns everything in the results folder."""
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
    assert done.stderr == (
        "run-on-gpu: there is no step measure: reuse-test reuse reuse-stock reuse-32k host-tier "
        "sglang-reuse-test pages-stock pages test tune bench sanitize\n"
    )


def test_an_interpreter_that_is_not_there_is_named(tmp_path):
    done = run(python=str(tmp_path / "python"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"run-on-gpu: {tmp_path}/python cannot be run: PYTHON names the interpreter"


def test_what_an_interpreter_lacks_is_named(tmp_path):
    bare = tmp_path / "python"
    # isolated and without site-packages, as if nothing were installed
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    done = run(python=str(bare))
    assert done.returncode == 1
    assert "lacks torch, triton, pytest, hypothesis, numpy" in done.stderr


FAKE_PYTHON = """#!/usr/bin/env bash
# stands in for the Python of a machine with a GPU: says what it was asked to run, and fails where it is told to
case "$*" in
-) cat >/dev/null ;;
*get_device_name*) echo "NVIDIA H200" ;;
*)
  echo "$*" >>"$ASKED"
  case "$*" in *"$FAILS"*) exit 3 ;; esac
  echo "what came of $2"
  ;;
esac
"""


def run_with_fake_gpu(folder: Path, *steps: str, fails: str = "nothing fails") -> tuple[int, list[str], Path]:
    """Runs a copy of the script. Returns the exit code, the commands it ran, and the results' folder."""
    package = folder / "kernels" / "reprise_kernels"
    (package / "launch").mkdir(parents=True)
    script, python = package.parent / "run-on-gpu.sh", folder / "python"
    script.write_bytes(SCRIPT.read_bytes())
    python.write_text(FAKE_PYTHON)
    for file in (script, python):
        file.chmod(0o755)
    (package / "launch" / "launch_configs.json").write_text("configs")
    lab = folder / "lab" / "kernels"
    lab.mkdir(parents=True)
    (lab / "COMPILED.md").write_text("compiled")
    asked = folder / "asked"
    env = {**os.environ, "PYTHON": str(python), "ASKED": str(asked), "FAILS": fails}
    done = subprocess.run([str(script), *steps], env=env, capture_output=True, text=True)
    (results,) = (lab / "results").iterdir()
    return done.returncode, asked.read_text().splitlines(), results


def test_with_a_gpu_it_measures_reuse_with_vllms_defaults_first_and_then_the_kernels(tmp_path):
    code, asked, folder = run_with_fake_gpu(tmp_path)
    assert code == 0
    asked = [line for line in asked if not line.startswith("-c import")]
    assert [line.split()[1] for line in asked] == [
        "pytest", *["quality.device.reuse"] * 3, "quality.device.host_tier", "pytest",
        *["quality.device.pages"] * 2, "pytest", "pytest",
        "lab_kernels.tune", "lab_kernels.aot", "lab_kernels.bench", "pytest",
    ]  # fmt: skip
    assert not any("--eager" in line or "--engine" in line for line in asked[:4])
    for file in asked[0].split():
        assert not file.endswith(".py") or (SCRIPT.parent / file).exists()
    bench = asked.pop(-2)
    asked.append(bench)
    assert asked[-1].endswith("--skip-tests")
    assert folder.name.endswith("-NVIDIA-H200")
    assert (folder / "bench.md").read_text() == "what came of lab_kernels.bench\n"
    assert (folder / "launch_configs.json").read_text() == "configs"
    assert (folder / "COMPILED.md").read_text() == "compiled"


def test_what_has_passed_is_not_run_again_unless_it_is_named(tmp_path):
    run_with_fake_gpu(tmp_path, fails="quality.device.reuse --shape 8b --contexts 32768 --prompts 5")
    (asked := tmp_path / "asked").unlink()
    env = {**os.environ, "PYTHON": str(tmp_path / "python"), "ASKED": str(asked), "FAILS": "nothing fails"}
    script = [str(tmp_path / "kernels" / "run-on-gpu.sh")]
    subprocess.run(script, env=env, capture_output=True)
    assert asked.read_text().splitlines() == [
        "-c import vllm",
        "-m quality.device.reuse --shape 8b --contexts 32768 --prompts 5",
    ]
    asked.unlink()
    subprocess.run([*script, "reuse-32k"], env=env, capture_output=True)
    assert len(asked.read_text().splitlines()) == 2


def test_a_step_that_fails_lets_the_next_ones_run_and_fails_the_whole(tmp_path):
    code, asked, folder = run_with_fake_gpu(tmp_path, "tune", "bench", fails="lab_kernels.tune")
    assert code == 1
    # no configuration was chosen, so there is nothing to compile
    assert [line.split()[1] for line in asked] == ["lab_kernels.tune", "lab_kernels.bench"]
    assert not (folder / "launch_configs.json").exists()


def test_a_benchmark_that_fails_fails_the_whole(tmp_path):
    code, asked, _ = run_with_fake_gpu(tmp_path, "bench", fails="lab_kernels.bench")
    assert code == 1
    assert len(asked) == 1


def test_a_benchmark_alone_runs_the_tests_itself(tmp_path):
    _, asked, _ = run_with_fake_gpu(tmp_path, "bench")
    assert "--skip-tests" not in asked[0]


def test_where_the_tests_are_red_nothing_is_measured(tmp_path):
    code, asked, _ = run_with_fake_gpu(tmp_path, "test", "bench", fails="pytest")
    assert code == 1
    assert [line.split()[1] for line in asked] == ["pytest"]
