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

    def __init__(self, *cos_sin: torch.Tensor, is_neox: bool, of_layers: Sequence[int] = ()) -> None:
        """cos_sin [positions, R] each: cosines, then sines, of R / 2 pairs; `is_neox`: pairs are (i, i + R / 2).

        of_layers  which of these tables turns each layer's keys, by default the first one; layers with windows may turn
                   keys by other angles than the others
        """
        self._tables = [_of_unit_length(one) for one in cos_sin]
        self.is_neox, self._of_layers = is_neox, of_layers

    @property
    def positions(self) -> int:
        """How many positions all tables cover."""
        return min(len(cos) for cos, _ in self._tables)

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self._tables[0][0].device

    @property
    def moves(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of moves by 0, 1, … positions, by the first table; float32 [positions, R / 2] each."""
        cos, sin = self._tables[0]
        return cos.contiguous(), sin.contiguous()

    def tables(self, distances: torch.Tensor, of: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines [n, 1, R / 2] for turns by `distances` (int64 [n]), the same for all heads; of: a table."""
        (cos, sin), at = self._tables[of], distances.abs()
        sign = distances.sign().clamp(min=-1)[:, None, None]
        return cos[at][:, None], sin[at][:, None] * sign

    def turning(self, distances: torch.Tensor) -> Turning:
        """Returns what turns any layer's keys by `distances` (int64 [n])."""
        tables = [self.tables(distances, of) for of in range(len(self._tables))]
        return lambda layer, keys: self.turn(keys, tables[self._table_of(layer)])

    def turn(self, keys: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Returns keys [n, heads, head size], each turned by its entry of `tables`, in their original data type."""
        cos, sin = tables
        given = keys.float()
        turned = given.clone() if 2 * cos.shape[-1] < keys.shape[-1] else torch.empty_like(given)
        (x, y), (turned_x, turned_y) = (self._pairs(one, cos.shape[-1]) for one in (given, turned))
        torch.mul(x, cos, out=turned_x).addcmul_(y, sin, value=-1)
        torch.mul(y, cos, out=turned_y).addcmul_(x, sin)
        return turned.to(keys.dtype)

    def pairs(self, layer: int, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Views of the first and second components of a layer's pairs, which turn together."""
        return self._pairs(keys, self._tables[self._table_of(layer)][0].shape[-1])

    def _pairs(self, keys: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        if self.is_neox:
            return keys[..., :count], keys[..., count : 2 * count]
        return keys[..., 0 : 2 * count : 2], keys[..., 1 : 2 * count : 2]

    def _table_of(self, layer: int) -> int:
        return self._of_layers[layer] if self._of_layers else 0


def _of_unit_length(cos_sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = cos_sin.float().chunk(2, -1)
    length = torch.sqrt(cos[:1] ** 2 + sin[:1] ** 2)
    return cos / length, sin / length
