"""How pages form chunks and chunks form grids, and what share of each level is kept."""

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True)
class Hierarchy:
    """CHESS's levels: a chunk is `pages` pages, a grid `chunks` chunks; each level keeps a share above 0 and up to 1.

    The first `sinks` and the last `recent` pages of a request are kept whatever their scores. With `among_active`, a
    threshold is computed among the units whose parent is kept, as section 3.2 says: the budget is the product of the
    shares, as in Table 1. Otherwise units whose parent is not kept count with a score of zero, as in Algorithm 1.
    """

    pages: int = 16
    chunks: int = 8
    keep_grids: float = 0.5
    keep_chunks: float = 0.5
    keep_pages: float = 0.5
    sinks: int = 1
    recent: int = 4
    among_active: bool = True

    def __post_init__(self) -> None:
        """Raises ValueError if a size, a share or a number of pages is out of range."""
        if self.pages < 1 or self.chunks < 1:
            raise ValueError(f"a chunk of {self.pages} pages, a grid of {self.chunks} chunks: 1 is the least")
        if not all(0 < share <= 1 for share in (self.keep_grids, self.keep_chunks, self.keep_pages)):
            raise ValueError("the shares that are kept must be more than 0 and at most 1")
        if self.sinks < 0 or self.recent < 0:
            raise ValueError(f"{self.sinks} sinks, {self.recent} recent pages: they must not be negative")

    def dropped_per_million(self) -> tuple[int, int, int]:
        """The share of grids, chunks and pages to drop, as integers so that ranks are exact everywhere."""
        grids, chunks, pages = (
            MILLION - round(share * MILLION) for share in (self.keep_grids, self.keep_chunks, self.keep_pages)
        )
        return grids, chunks, pages
