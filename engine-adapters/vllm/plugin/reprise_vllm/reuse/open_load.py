"""A load whose rows are not all computed yet."""

from collections import deque
from dataclasses import dataclass

import torch

from reprise_vllm.reuse.messages import Load
from reprise_vllm.reuse.row_choice import Filled, Part


@dataclass(slots=True)
class OpenLoad:
    """A load, what of it the pages hold, and what is still to be computed."""

    load: Load
    tokens: torch.Tensor
    blocks: torch.Tensor
    filled: Filled | None = None
    """None: nothing of it could be reused"""
    parts: deque[Part] | None = None
    """what is still to be computed, in this order; None: not chosen yet"""

    def take(self, most: int) -> Part:
        """Takes up to so many rows of the part that is next."""
        part = self.parts.popleft()
        if most < len(part.rows):
            self.parts.appendleft(part._replace(rows=part.rows[most:]))
        return part._replace(rows=part.rows[:most])
