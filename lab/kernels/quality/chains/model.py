"""A decoder like those in production, small enough to train here, with access to its keys and values."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

from reprise_reuse.rotation import KeyRotation


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Model sizes. Half of each head's dimensions carry the rotary embedding."""

    vocabulary: int
    width: int = 64
    layers: int = 4
    query_heads: int = 4
    kv_heads: int = 2
    head_size: int = 32
    hidden: int = 128
    rope_base: float = 1000.0
    most_positions: int = 512

    @property
    def rotary(self) -> int:
        """Dimensions of a head that are turned by its position: the first half."""
        return self.head_size // 2


class Cache(NamedTuple):
    """Keys, turned for their position, and values of all layers; slot `s` is position `s`."""

    keys: torch.Tensor
    """[layers, batch, positions, kv heads, head size]"""
    values: torch.Tensor


class Forward(NamedTuple):
    """The result of a forward pass over some rows."""

    hidden: torch.Tensor
    """[batch, rows, width], normalised, ready for `head`"""
    cache: Cache
    """the given cache, or the rows' own keys and values"""
    attention: torch.Tensor | None
    """[layers, batch, positions]: softmax weights, summed over heads and rows; only on request"""


class Layer(nn.Module):
    """Pre-norm attention and SwiGLU."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        c = config
        self.attention_norm = nn.RMSNorm(c.width, eps=1e-5)
        self.query = nn.Linear(c.width, c.query_heads * c.head_size)
        self.key = nn.Linear(c.width, c.kv_heads * c.head_size)
        self.value = nn.Linear(c.width, c.kv_heads * c.head_size)
        self.out = nn.Linear(c.query_heads * c.head_size, c.width, bias=False)
        self.mlp_norm = nn.RMSNorm(c.width, eps=1e-5)
        self.gate = nn.Linear(c.width, c.hidden, bias=False)
        self.up = nn.Linear(c.width, c.hidden, bias=False)
        self.down = nn.Linear(c.hidden, c.width, bias=False)

    def mlp(self, x: torch.Tensor) -> torch.Tensor:
        """SwiGLU of the normalised stream."""
        x = self.mlp_norm(x)
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class ChainModel(nn.Module):
    """The transformer. Rows may be at any positions: others are read from the cache as they are."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width, eps=1e-5)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        angles = torch.outer(torch.arange(config.most_positions).double(), frequencies(config))
        self.register_buffer("cos_sin", torch.cat((angles.cos(), angles.sin()), -1).float(), persistent=False)

    def rotation(self) -> KeyRotation:
        """Returns the rotation that turns this model's keys to other positions."""
        return KeyRotation(self.cos_sin, is_neox=True)

    def forward(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        *,
        cache: Cache | None = None,
        visible: torch.Tensor | None = None,
        with_attention: bool = False,
    ) -> Forward:
        """
        tokens      int64 [batch, rows]
        positions   int64 [batch, rows], or [rows] if the same for the whole batch
        cache       written by the rows and visible to them, up to each row's own position. Without it the rows see each
                    other
        visible     bool [rows, rows], replaces "up to its own position" if rows see each other
        """
        c = self.config
        positions = positions.expand(tokens.shape)
        if visible is None:
            places = torch.arange(cache.keys.shape[2]) if cache else positions[:, None]
            visible = places <= positions[..., None]
        visible = visible if visible.dim() == 2 else visible[:, None]
        table = self.cos_sin[positions][:, :, None]
        x = self.embedding(tokens)
        batch, rows = tokens.shape
        keys, values, paid = [], [], []
        for index, layer in enumerate(self.layers):
            normal = layer.attention_norm(x)
            query = turn(layer.query(normal).view(batch, rows, c.query_heads, c.head_size), table)
            key = turn(layer.key(normal).view(batch, rows, c.kv_heads, c.head_size), table)
            value = layer.value(normal).view(batch, rows, c.kv_heads, c.head_size)
            if cache:
                key, value = put(cache.keys[index], positions, key), put(cache.values[index], positions, value)
            mixed, weights = attend(query, key, value, visible, with_attention=with_attention)
            x = x + layer.out(mixed)
            x = x + layer.mlp(x)
            keys.append(key)
            values.append(value)
            paid.append(weights)
        cache = cache or Cache(torch.stack(keys), torch.stack(values))
        return Forward(self.norm(x), cache, torch.stack(paid) if with_attention else None)


def frequencies(config: ModelConfig) -> torch.Tensor:
    """Radians per position for each turned pair; float64 [rotary / 2]."""
    pairs = config.rotary // 2
    return config.rope_base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)


def turn(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of the first dimensions; x [batch, rows, heads, head size], table [batch, rows, 1, rotary]."""
    cos, sin = table.chunk(2, -1)
    half = cos.shape[-1]
    a, b, rest = x.split((half, half, x.shape[-1] - 2 * half), -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)


def put(held: torch.Tensor, positions: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Writes rows at positions [batch, rows] into `held` [batch, positions, heads, head size]. Returns `held`."""
    return held.scatter_(1, positions[..., None, None].expand_as(rows), rows)


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, visible: torch.Tensor, *, with_attention: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Grouped-query attention. Returns [batch, rows, query heads * head size] and the attention to each position."""
    batch, rows, heads, size = query.shape
    query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    is_trained = query.requires_grad
    # the grouped backward sums in a different order than the one that produced the committed weights
    if is_trained or with_attention:
        key, value = (rows.repeat_interleave(heads // rows.shape[1], 1) for rows in (key, value))
    if not with_attention:
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible, enable_gqa=not is_trained)
        return mixed.transpose(1, 2).reshape(batch, rows, heads * size), None
    scores = query @ key.transpose(-1, -2) / math.sqrt(size)
    weights = scores.masked_fill(~visible, -torch.inf).softmax(-1)
    return (weights @ value).transpose(1, 2).reshape(batch, rows, heads * size), weights.sum((1, 2))
