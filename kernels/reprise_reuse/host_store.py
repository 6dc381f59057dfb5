"""Rows of keys and values in host memory, by slot."""

import math
from dataclasses import dataclass

import torch

from reprise_reuse.rotation import KeyRotation

Rows = list[tuple[torch.Tensor, torch.Tensor]]
"""keys and values [n, heads, head size] of each layer"""


@dataclass(frozen=True, slots=True)
class RowShape:
    """What a token's row holds."""

    layers: int
    heads: int
    head_size: int
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """Bytes a token takes in host memory."""
        return 2 * self.layers * self.heads * self.head_size * self.dtype.itemsize + 20


class HostStore:
    """
    A fixed number of slots for tokens: keys and values of all layers, the token itself, and how its values vary.

    Keys lie as they were at the position of their first context, so a token that is used there again is used bit by
    bit. Later contexts are averaged in: keys turned back to that position, Welford's variance of the values beside.
    """

    def __init__(self, slots: int, shape: RowShape, rotation: KeyRotation, *, pinned: bool = False) -> None:
        rows = (shape.layers, slots, shape.heads, shape.head_size)
        self.keys = torch.empty(rows, dtype=shape.dtype, pin_memory=pinned)
        self.values = torch.empty(rows, dtype=shape.dtype, pin_memory=pinned)
        self.tokens = torch.full((slots,), -1, dtype=torch.int32)
        self.owners = torch.full((slots,), -1, dtype=torch.int64)
        self.positions = torch.zeros(slots, dtype=torch.int32)
        self._contexts = torch.zeros(slots, dtype=torch.int16)
        self._squares = torch.zeros(slots)
        self._rotation = rotation
        self.shape = shape

    def begin(self, slots: torch.Tensor, owner: int, tokens: torch.Tensor, positions: torch.Tensor) -> None:
        """Slots (int64 [n]) are `owner`'s from now on, and hold these tokens as computed at these positions."""
        self.owners[slots] = owner
        self.tokens[slots] = tokens
        self.positions[slots] = positions
        self._contexts[slots] = 1
        self._squares[slots] = 0

    def holds(self, slots: torch.Tensor, owner: int, tokens: torch.Tensor) -> bool:
        """Whether these slots hold these tokens for that owner: what is asked before any row is used."""
        return self.belong_to(slots, owner) and bool((self.tokens[slots] == tokens).all())

    def belong_to(self, slots: torch.Tensor, owner: int) -> bool:
        """Whether all of these slots (int64 [n]) are that owner's."""
        return bool((self.owners[slots] == owner).all())

    def forget(self, slots: torch.Tensor) -> None:
        """What these slots hold is not to be used."""
        self.owners[slots] = -1

    def spread(self, slots: torch.Tensor) -> torch.Tensor:
        """Root of the values' variance over a token's contexts, summed over layers, heads and dimensions; [n]."""
        return (self._squares[slots] / self._contexts[slots].clamp(min=1)).sqrt()

    def put(self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Writes one layer's rows [n, heads, head size] of a token's first context."""
        self.keys[layer, slots] = keys.to("cpu", self.shape.dtype)
        self.values[layer, slots] = values.to("cpu", self.shape.dtype)

    def average(self, slots: torch.Tensor, positions: torch.Tensor, rows: Rows) -> None:
        """Takes the rows of all layers from one context more, computed at `positions` (int64 [n]), into the mean."""
        seen = self._contexts[slots].float()
        share = (1 / (seen + 1))[:, None, None]
        tables = self._rotation.tables(self.positions[slots].long() - positions)
        squares = torch.zeros(len(slots))
        for layer, (keys, values) in enumerate(rows):
            keys = self._rotation.turn(keys.to("cpu").float(), tables)
            mean_keys, mean_values = self.keys[layer, slots].float(), self.values[layer, slots].float()
            difference = values.to("cpu").float() - mean_values
            squares += difference.square().sum((1, 2))
            self.keys[layer, slots] = (mean_keys + share * (keys - mean_keys)).to(self.shape.dtype)
            self.values[layer, slots] = (mean_values + share * difference).to(self.shape.dtype)
        self._squares[slots] += squares * seen / (seen + 1)
        self._contexts[slots] += 1

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """A copy of all that these slots hold, for the disk."""
        return {
            "keys": self.keys[:, slots],
            "values": self.values[:, slots],
            "tokens": self.tokens[slots],
            "positions": self.positions[slots],
            "contexts": self._contexts[slots],
            "squares": self._squares[slots],
        }

    def load_state(self, slots: torch.Tensor, owner: int, state: dict[str, torch.Tensor]) -> None:
        """Puts a state that `state` gave into slots."""
        self.keys[:, slots] = state["keys"]
        self.values[:, slots] = state["values"]
        self.tokens[slots] = state["tokens"]
        self.positions[slots] = state["positions"]
        self._contexts[slots] = state["contexts"]
        self._squares[slots] = state["squares"]
        self.owners[slots] = owner


def slots_in(budget: int, shape: RowShape) -> int:
    """How many tokens a budget of bytes holds."""
    return math.floor(budget / shape.bytes)
