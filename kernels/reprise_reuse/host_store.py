"""Rows of keys and values in host memory, by slot."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from reprise_reuse.host_rows import CodedRows, HostRows, PlainRows
from reprise_reuse.rotation import KeyRotation

KeysAndValues = tuple[torch.Tensor, torch.Tensor]
Rows = list[KeysAndValues]
"""each layer's keys and values [n, heads, head size]"""

BITS: dict[str, tuple[int, int] | None] = {"model": None, "int8": (8, 8), "k8v4": (8, 4)}
"""bits per key and per value in host memory, by format name; None: as in the pages"""


@dataclass(frozen=True, slots=True)
class RowShape:
    """The contents of a token's row."""

    layers: int
    heads: int
    head_size: int
    dtype: torch.dtype
    """of the pages"""
    host_format: str = "model"
    """a name of `BITS`; with any but `model`, `get` returns approximately what was put"""

    @property
    def bytes(self) -> int:
        """Bytes per token in host memory."""
        if bits := BITS[self.host_format]:
            of_head = sum(CodedRows.bytes_of(each, self.head_size) for each in bits)
        else:
            of_head = 2 * self.head_size * self.dtype.itemsize
        return self.layers * self.heads * of_head + 20

    @property
    def error(self) -> float:
        """The largest error of a number after a round trip, relative to the largest number in its head."""
        bits = BITS[self.host_format]
        # plus half a step of the data type that `get` returns
        return max(map(CodedRows.error_of, bits)) + torch.finfo(self.dtype).eps / 2 if bits else 0.0


class HostStore:
    """
    A fixed number of token slots: keys and values of all layers, the token itself, and how its values vary.

    Keys are kept for the position of their first context, so a token reused at that position is identical bit by bit,
    unless the format keeps fewer bits. Later contexts are averaged in: keys are first turned back to that position, and
    the values' variance is updated by Welford's method.
    """

    def __init__(self, slots: int, shape: RowShape, rotation: KeyRotation, *, pinned: bool = False) -> None:
        bits = BITS[shape.host_format] or (None, None)
        self._keys, self._values = (_make_rows(each, slots, shape, pinned=pinned) for each in bits)
        self.tokens = torch.full((slots,), -1, dtype=torch.int32)
        self.owners = torch.full((slots,), -1, dtype=torch.int64)
        self.positions = torch.zeros(slots, dtype=torch.int32)
        self._contexts = torch.zeros(slots, dtype=torch.int16)
        self._squares = torch.zeros(slots)
        self._of_tokens = {
            "tokens": self.tokens, "positions": self.positions, "contexts": self._contexts, "squares": self._squares,
        }  # fmt: skip
        self._rotation = rotation
        self.shape = shape

    @property
    def slots(self) -> int:
        """How many tokens fit."""
        return len(self.tokens)

    def begin(
        self, slots: torch.Tensor, owners: int | torch.Tensor, tokens: torch.Tensor, positions: torch.Tensor
    ) -> None:
        """Assigns slots (int64 [n]) to their owners, to hold these tokens as computed at these positions."""
        self.owners[slots] = owners
        self.tokens[slots] = tokens
        self.positions[slots] = positions
        self._contexts[slots] = 1
        self._squares[slots] = 0

    def holds(self, slots: np.ndarray, owner: int, tokens: np.ndarray) -> bool:
        """Whether these slots (int64 [n]) hold these tokens for that owner; check this before using any row."""
        held = self.owners.numpy()[slots] == owner, self.tokens.numpy()[slots] == tokens
        return bool(held[0].all() and held[1].all())

    def belong_to(self, slots: torch.Tensor, owner: int) -> bool:
        """Whether all of these slots (int64 [n]) belong to that owner."""
        return bool((self.owners[slots] == owner).all())

    def forget(self, slots: torch.Tensor, owner: int | None = None) -> None:
        """Invalidates the contents of these slots, if an owner is named only where they belong to it."""
        if owner is not None:
            slots = slots[self.owners[slots] == owner]
        self.owners[slots] = -1

    def spread(self, slots: np.ndarray) -> np.ndarray:
        """Root of the values' variance over a token's contexts, summed over layers, heads and dimensions; float32 [n].

        slots  int64 [n]
        """
        return np.sqrt(self._squares.numpy()[slots] / np.maximum(self._contexts.numpy()[slots], 1))

    def put(self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Writes one layer's rows [n, heads, head size] from a token's first context."""
        self._keys.put(layer, slots, keys)
        self._values.put(layer, slots, values)

    def get(self, layer: int, slots: torch.Tensor, device: torch.device | str = "cpu") -> KeysAndValues:
        """Returns one layer's keys and values [n, heads, head size] on a device, in the data type of the pages."""
        device = torch.device(device)
        return self._keys.get(layer, slots, device), self._values.get(layer, slots, device)

    def layers_for_kernels(self) -> list[KeysAndValues] | None:
        """Returns each layer's keys and values [slots, heads, head size] if kernels read them there, else None."""
        both = self._keys.reached, self._values.reached
        return None if None in both else list(zip(*both, strict=True))

    @contextmanager
    def read_by_kernels(self, device: torch.device) -> Iterator[None]:
        """A context in which the device reads what `layers_for_kernels` returned."""
        with self._keys.uses.reading(device), self._values.uses.reading(device):
            yield

    def average(self, slots: torch.Tensor, positions: torch.Tensor, rows: Iterable[KeysAndValues]) -> None:
        """Averages in the rows of one more context, computed at `positions` (int64 [n]); on the rotation's device.

        rows  layer by layer, [n, heads, head size]; read one after the other, so that only one layer's are held
        """
        device = self._rotation.device
        seen = self._contexts[slots].float().to(device)
        share = (1 / (seen + 1))[:, None, None]
        turn = self._rotation.turning((self.positions[slots].long() - positions).to(device))
        squares = torch.zeros(len(slots), device=device)
        for layer, (keys, values) in enumerate(rows):
            keys = turn(layer, keys.to(device).float())
            mean_keys, mean_values = (mean.float() for mean in self.get(layer, slots, device))
            difference = values.to(device).float() - mean_values
            squares += difference.square().sum((1, 2))
            self.put(layer, slots, mean_keys + share * (keys - mean_keys), mean_values + share * difference)
        self._squares[slots] += (squares * seen / (seen + 1)).cpu()
        self._contexts[slots] += 1

    def count_as_one(self, slots: torch.Tensor) -> None:
        """Has the mean in these slots (int64 [n]) count as a single context, which varies as its contexts did."""
        self._squares[slots] /= self._contexts[slots].clamp(min=1)
        self._contexts[slots] = 1

    def state(self, slots: torch.Tensor) -> dict[str, torch.Tensor]:
        """Returns a copy of everything in these slots, for the disk."""
        rows = {"keys": self._keys.state(slots), "values": self._values.state(slots)}
        return {
            **{f"{kind}.{name}": one for kind, state in rows.items() for name, one in state.items()},
            **{name: one[slots] for name, one in self._of_tokens.items()},
        }

    def load_state(self, slots: torch.Tensor, owner: int, state: dict[str, torch.Tensor]) -> None:
        """Restores what `state` returned into these slots, for `owner`."""
        self._keys.load_state(slots, _part(state, "keys."))
        self._values.load_state(slots, _part(state, "values."))
        for name, one in self._of_tokens.items():
            one[slots] = state[name]
        self.owners[slots] = owner


def slots_in(budget: int, shape: RowShape) -> int:
    """How many tokens fit in a budget of bytes."""
    return math.floor(budget / shape.bytes)


def _make_rows(bits: int | None, slots: int, shape: RowShape, *, pinned: bool) -> HostRows:
    rows = (shape.layers, slots, shape.heads, shape.head_size)
    if bits is None:
        return PlainRows(rows, shape.dtype, pinned=pinned)
    return CodedRows(bits, rows, shape.dtype, pinned=pinned)


def _part(state: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
