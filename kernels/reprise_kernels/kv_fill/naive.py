"""The specification of kv_fill, in float64 on the CPU."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

KeysAndValues = tuple[torch.Tensor, torch.Tensor]


class Turns(NamedTuple):
    """The cosines and sines of moves by 0, 1, … positions, float32 [P, R/2] each."""

    cos: torch.Tensor
    sin: torch.Tensor


def naive_kv_fill(
    source: Sequence[KeysAndValues],
    source_slots: torch.Tensor,
    target: Sequence[KeysAndValues],
    target_slots: torch.Tensor,
    distances: torch.Tensor,
    turns: Turns,
    *,
    interleaved: bool,
) -> list[KeysAndValues]:
    """Returns float64 copies of `target` in which rows come from `source`, with keys moved by `distances`.

    source, target            of each layer, keys and values [rows, Hkv, D]
    source_slots, target_slots, distances  [N]; no row is among both, and no target appears twice
    turns                     every |distance| < P

        keys[target_slots[i], h] = R(distances[i]) source_keys[source_slots[i], h]
        values[target_slots[i], h] = source_values[source_slots[i], h]

    where R(m) turns a pair (x, y) into (x cos mf - y sin mf, x sin mf + y cos mf) (FusionRAG, A.1).
    """
    half = turns.cos.shape[1]
    first = torch.arange(half) * 2 if interleaved else torch.arange(half)
    second = first + 1 if interleaved else first + half
    results = []
    for (keys, values), (old_keys, old_values) in zip(source, target, strict=True):
        new_keys, new_values = old_keys.double().clone(), old_values.double().clone()
        for origin, to, distance in zip(source_slots.tolist(), target_slots.tolist(), distances.tolist(), strict=True):
            key = keys[origin].double()
            cos, sin = turns.cos[abs(distance)].double(), turns.sin[abs(distance)].double()
            sin = -sin if distance < 0 else sin
            new_keys[to] = key
            new_keys[to][:, first] = key[:, first] * cos - key[:, second] * sin
            new_keys[to][:, second] = key[:, first] * sin + key[:, second] * cos
            new_values[to] = values[origin].double()
        results.append((new_keys, new_values))
    return results
