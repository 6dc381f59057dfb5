"""How each operation is launched: on which GPU, and with which configuration, from the committed table."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from triton import knobs

Config = Mapping[str, int]
TABLE = Path(__file__).with_name("launch_configs.json")
TRIED: dict[str, Config] = {}
"""by operation: what is launched in place of the committed configuration"""


@dataclass(frozen=True)
class Tile:
    """Rows and keys that a program of an attention or score kernel processes at a time.

    Query heads with the same key head share its rows.
    """

    rows: int
    keys: int
    warps: int
    stages: int
    precision: str
    dim: int

    def tokens(self, group: int) -> int:
        """How many query tokens fit in a tile's rows."""
        return self.rows // group


@cache
def _committed() -> Mapping[str, Config]:
    return json.loads(TABLE.read_text())["configs"]


def launch_config(operation: str, interpreted: Config) -> Config:
    """The configuration being tried; otherwise `interpreted` under the interpreter, else the table's.

    The interpreter's configuration is small, so that small cases have several tiles and can show errors.
    """
    if operation in TRIED:
        return TRIED[operation]
    return interpreted if knobs.runtime.interpret else _committed()[operation]


def on_device(tensor: torch.Tensor) -> AbstractContextManager[object]:
    """Returns a context in which kernels run on the tensor's GPU; by itself Triton uses the current one."""
    return torch.cuda.device(tensor.device) if tensor.device.type == "cuda" else nullcontext()
