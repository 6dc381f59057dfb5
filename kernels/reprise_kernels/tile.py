"""The size of a tile, as the attention and score kernels take it."""

from dataclasses import dataclass


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
