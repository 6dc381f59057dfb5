"""Every kernel compiles for its target GPUs without one, and uses the resources that the table says."""

import os
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent


def test_every_kernel_compiles_for_sm_90a_and_sm_80_without_spills_as_the_table_says():
    # kernels cannot be compiled in this process: the interpreter is chosen once per process
    env = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", "lab_kernels.aot", "--check"], cwd=KERNELS, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
