"""How each operation is launched: on which GPU, and with which configuration, from the committed table."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from triton import knobs

Config = Mapping[str, int]
TABLE = Path(__file__).with_name("launch_configs.json")
_tried: dict[str, Config] = {}


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


@dataclass(frozen=True)
class LaunchTable:
    """A configuration per operation; `tuned_on` says where and when they were measured, None if they were not."""

    tuned_on: Mapping[str, str] | None
    configs: Mapping[str, Config]

    def as_json(self) -> str:
        """Returns the contents of the table's file."""
        return json.dumps({"tuned_on": self.tuned_on, "configs": self.configs}, indent=2) + "\n"


def read_table(path: Path) -> LaunchTable:
    """Reads a table."""
    document = json.loads(path.read_text())
    return LaunchTable(document["tuned_on"], document["configs"])


@cache
def _committed() -> LaunchTable:
    return read_table(TABLE)


def launch_config(operation: str, interpreted: Config, usual: Config | None = None) -> Config:
    """The configuration being tried; otherwise `interpreted` under the interpreter, else `usual`, or the table's.

    The interpreter's configuration is small, so that small cases have several tiles and can show errors.
    """
    if operation in _tried:
        return _tried[operation]
    if knobs.runtime.interpret:
        return interpreted
    return _committed().configs[operation] if usual is None else usual


@contextmanager
def trying(operation: str, config: Config) -> Iterator[None]:
    """Within this context, the operation is launched, and compiled ahead of time, with this configuration."""
    before = _tried.get(operation)
    _tried[operation] = config
    try:
        yield
    finally:
        del _tried[operation]
        if before is not None:
            _tried[operation] = before


def describe(config: Config) -> str:
    """Describes the configuration in words: "rows 128, keys 64"."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in config.items())


def on_device(tensor: torch.Tensor) -> AbstractContextManager[object]:
    """Returns a context in which kernels run on the tensor's GPU; by itself Triton uses the current one."""
    return torch.cuda.device(tensor.device) if tensor.device.type == "cuda" else nullcontext()
