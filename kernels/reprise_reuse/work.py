"""The cost of computing rows, and how many of them a share of that cost pays for."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class RowWork:
    """
    The work of computing a row: constant in linear layers, growing with the row's position in attention.

    In a prompt of 4,000 tokens, the last rows of a small model cost more than twice as much as its first ones, and
    methods choose the last rows most often. So a share of rows says little about time; a share of work does.
    """

    even_keys: float = math.inf
    """number of keys at which a row's attention costs as much as the rest of its work; inf: all rows cost the same"""

    def of(self, positions: np.ndarray) -> np.ndarray:
        """Returns the work of rows at these positions (int64 [n]), relative to a row that attends to nothing; [n]."""
        return 1 + positions / self.even_keys

    def affordable(self, positions: np.ndarray, share: float) -> int:
        """Returns how many rows, whichever they are, cost at most `share` of all these positions (int64 [n]).

        This is the number of last rows, the most expensive ones, that `share` pays for: 1 pays for all, 0 for none.
        """
        work = np.sort(self.of(positions))[::-1].cumsum()
        # a share of 1 must not fail because of a rounding error in the sum
        return int(np.searchsorted(work, share * work[-1] * (1 + 1e-9), side="right")) if len(work) else 0


def even_keys_of(described: Any, hidden: int, heads: int | None, kv_heads: int, head_size: int) -> float:
    """Returns how many keys a row must attend to before its attention costs as much as its weights.

    described  the configuration of the model's text, as Transformers names it; infinity if it does not say
    hidden     size of the model
    """
    experts = getattr(described, "num_experts_per_tok", None)
    inner = getattr(described, "moe_intermediate_size", None) if experts else None
    inner = inner or getattr(described, "intermediate_size", None)
    if not (isinstance(inner, int) and heads and head_size):
        return math.inf
    queries, keys = heads * head_size, kv_heads * head_size
    # a token passes several experts
    weights = 2 * hidden * (queries + keys) + 3 * hidden * inner * (experts or 1)
    # each attended key costs two multiplications per query element: one with the key, one with the value
    return weights / (2 * queries)
