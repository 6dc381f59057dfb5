"""
An initialisation from which chains are learnt within minutes: attention that finds what followed an earlier token.

From a plain random start, such a model long guesses among the values in the text. All weights are trained further.
"""

import math

import torch
from torch import nn

from quality.chains.model import ChainModel, Layer, ModelConfig, frequencies

_PREVIOUS_GAIN = 9.0
_MATCH_GAIN = 3.0


@torch.no_grad()
def initialise(model: ChainModel, seed: int) -> None:
    """Sets random weights. The first KV head of layer 0 looks one token back; those above match what it found."""
    generator = torch.Generator().manual_seed(seed)
    c = model.config
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
        elif parameter.dim() == 2:
            fan_in = 1 if name.startswith("embedding") else parameter.shape[1]
            residual = math.sqrt(2 * c.layers) if name.endswith(("out.weight", "down.weight")) else 1
            nn.init.normal_(parameter, std=1 / math.sqrt(fan_in) / residual, generator=generator)
    model.head.weight.mul_(0.5)
    read = nn.init.orthogonal_(torch.empty(c.head_size, c.width), generator=generator)
    write = nn.init.orthogonal_(torch.empty(c.head_size, c.width), generator=generator)
    _look_back(model.layers[0], c, read, write)
    for layer in model.layers[1:]:
        _match(layer, c, read, write, generator)


def _look_back(layer: Layer, c: ModelConfig, read: torch.Tensor, write: torch.Tensor) -> None:
    """Attention by position alone, through the biases: the key's bias is the query's, turned by one position."""
    half, group = c.rotary // 2, c.query_heads // c.kv_heads
    angle = frequencies(c).float()
    strength = _PREVIOUS_GAIN / math.sqrt(half) * math.sqrt(math.sqrt(c.head_size))
    layer.key.weight[: c.head_size].mul_(0.1)
    layer.key.bias[:half] = strength * angle.cos()
    layer.key.bias[half : c.rotary] = strength * angle.sin()
    layer.value.weight[: c.head_size] = read
    for head in range(group):
        rows = slice(head * c.head_size, (head + 1) * c.head_size)
        layer.query.weight[rows].mul_(0.1)
        layer.query.bias[head * c.head_size : head * c.head_size + half] = strength
        layer.out.weight[:, rows] = write.T / group


def _match(layer: Layer, c: ModelConfig, read: torch.Tensor, write: torch.Tensor, generator: torch.Generator) -> None:
    """Attention by content, in the dimensions that do not turn."""
    still, group = c.head_size - c.rotary, c.query_heads // c.kv_heads
    mix = nn.init.orthogonal_(torch.empty(still, c.head_size), generator=generator) * _MATCH_GAIN
    layer.key.weight[: c.head_size].mul_(0.1)
    layer.key.weight[c.rotary : c.head_size] = mix @ write
    for head in range(group):
        start = head * c.head_size
        layer.query.weight[start : start + c.head_size].mul_(0.1)
        layer.query.weight[start + c.rotary : start + c.head_size] = mix @ read
