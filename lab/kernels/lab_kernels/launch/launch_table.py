"""The table of launch configurations, as it is read, tuned and written."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reprise_kernels.launch.launch_configs import TRIED, Config


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


@contextmanager
def trying(operation: str, config: Config) -> Iterator[None]:
    """Within this context, the operation is launched, and compiled ahead of time, with this configuration."""
    before = TRIED.get(operation)
    TRIED[operation] = config
    try:
        yield
    finally:
        del TRIED[operation]
        if before is not None:
            TRIED[operation] = before


def describe(config: Config) -> str:
    """Describes the configuration in words: "rows 128, keys 64"."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in config.items())
