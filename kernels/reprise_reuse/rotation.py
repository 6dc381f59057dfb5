"""Moves keys with a rotary embedding to other positions."""

from collections.abc import Callable, Sequence

import torch

Turning = Callable[[int, torch.Tensor], torch.Tensor]
"""turns a layer's keys [n, heads, head size], each by a distance given before"""


class KeyRotation:
    """
    Turns keys by a number of positions, with the model's own rotary tables (FusionRAG, A.1).

    A rotary embedding turns each pair of dimensions by an angle proportional to the position, so turning a key computed
    at p by q - p gives the key at q. A factor on the embedding's length (YaRN's) is kept in the key unchanged.
    """

    def __init__(self, cos_sin: torch.Tensor, *, is_neox: bool) -> None:
        """cos_sin [positions, R]: cosines, then sines, of R / 2 pairs; `is_neox`: pairs are (i, i + R / 2)."""
        cos, sin = cos_sin.float().chunk(2, -1)
        length = torch.sqrt(cos[:1] ** 2 + sin[:1] ** 2)
        self._cos, self._sin = cos / length, sin / length
        self._is_neox = is_neox
        self._dim = cos_sin.shape[-1]

    @property
    def positions(self) -> int:
        """How many positions the tables cover."""
        return len(self._cos)

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self._cos.device

    @property
    def moves(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of moves by 0, 1, … positions; float32 [positions, R / 2] each."""
        return self._cos.contiguous(), self._sin.contiguous()

    def tables(self, distances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines [n, 1, R / 2] for turns by `distances` (int64 [n]), the same for all layers and heads."""
        sign = distances.sign().clamp(min=-1)[:, None, None]
        at = distances.abs()
        return self._cos[at][:, None], self._sin[at][:, None] * sign

    def turning(self, distances: torch.Tensor) -> Turning:
        """Returns what turns any layer's keys by `distances` (int64 [n])."""
        tables = self.tables(distances)
        return lambda _, keys: self.turn(keys, tables)

    def turn(self, keys: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Returns keys [n, heads, head size], each turned by its entry of `tables`, in their original data type."""
        cos, sin = tables
        given = keys.float()
        turned = given.clone() if self._dim < keys.shape[-1] else torch.empty_like(given)
        (x, y), (turned_x, turned_y) = self.pairs(given), self.pairs(turned)
        torch.mul(x, cos, out=turned_x).addcmul_(y, sin, value=-1)
        torch.mul(y, cos, out=turned_y).addcmul_(x, sin)
        return turned.to(keys.dtype)

    def pairs(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Views of the first and second components of the pairs that turn together."""
        if self._is_neox:
            return keys[..., : self._dim // 2], keys[..., self._dim // 2 : self._dim]
        return keys[..., 0 : self._dim : 2], keys[..., 1 : self._dim : 2]


class LayerRotations:
    """The rotations of a model's layers; those with windows may turn keys by other angles than the others."""

    def __init__(self, by_layer: Sequence[KeyRotation]) -> None:
        self._by_layer = by_layer

    @property
    def positions(self) -> int:
        """How many positions all tables cover."""
        return min(one.positions for one in self._by_layer)

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self._by_layer[0].device

    def of(self, layer: int) -> KeyRotation:
        """Returns a layer's rotation."""
        return self._by_layer[layer]

    def turning(self, distances: torch.Tensor) -> Turning:
        """Returns what turns any layer's keys by `distances` (int64 [n])."""
        turns = {id(one): one.turning(distances) for one in self._by_layer}
        return lambda layer, keys: turns[id(self._by_layer[layer])](layer, keys)
