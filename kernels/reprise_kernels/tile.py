"""The size of a tile, as the attention and score kernels take it."""

from dataclasses import dataclass

from reprise_kernels.launch_spaces import Config


@dataclass(frozen=True)
class Tile:
    """Rows and keys a program takes at a time; query heads that share a key head share its rows."""

    rows: int
    keys: int
    warps: int
    stages: int
    precision: str
    dim: int

    def tokens(self, group: int) -> int:
        """How many query tokens a tile of rows holds."""
        return self.rows // group


def tile_of(config: Config, precision: str, dim: int) -> Tile:
    """The tile that a launch configuration stands for."""
    return Tile(config["rows"], config["keys"], config["warps"], config["stages"], precision, dim)
