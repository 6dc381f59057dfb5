"""The tile size taken by the attention and score kernels."""

from dataclasses import dataclass

from reprise_kernels.launch.launch_configs import Config


@dataclass(frozen=True)
class Tile:
    """Rows and keys that a program processes at a time; query heads with the same key head share its rows."""

    rows: int
    keys: int
    warps: int
    stages: int
    precision: str
    dim: int

    def tokens(self, group: int) -> int:
        """How many query tokens fit in a tile's rows."""
        return self.rows // group


def tile_of(config: Config, precision: str, dim: int) -> Tile:
    """Returns the tile of a launch configuration."""
    return Tile(config["rows"], config["keys"], config["warps"], config["stages"], precision, dim)
