"""The specification of rope_shift, in float64 on the CPU."""

import torch

from lab_kernels.rope_shift.rotary import Rotary


def naive_rope_shift(
    keys: torch.Tensor,
    slots: torch.Tensor,
    move: torch.Tensor,
    distances: torch.Tensor,
    rotary: Rotary,
    target: torch.Tensor,
    target_slots: torch.Tensor,
) -> torch.Tensor:
    """Returns a float64 copy of `target` in which token i's key has moved by the distance of its chunk.

    keys, target       [pages, page_size, Hkv, D]; slot s is keys[s // page_size, s % page_size]
    slots, target_slots, move  [N]; a token whose slot or target slot is negative is left alone
    distances          [C] positions by which each chunk moves

        target[target_slots[i], h] = R(distances[move[i]]) keys[slots[i], h]

    where R(m) turns the pair (x, y) with frequency f into (x cos mf - y sin mf, x sin mf + y cos mf) and leaves the
    non-rotary dimensions unchanged. Since R(a) R(b) = R(a + b) (FusionRAG, A.1), a key embedded at position p becomes
    exactly what it would be at p + distances[move[i]].
    """
    source, result = keys.double().flatten(0, 1), target.double().clone()
    flat = result.view(-1, *result.shape[2:])
    half = len(rotary.frequencies)
    frequencies = torch.tensor(rotary.frequencies, dtype=torch.float64)
    first = torch.arange(half) * 2 if rotary.interleaved else torch.arange(half)
    second = first + 1 if rotary.interleaved else first + half
    for i in range(len(slots)):
        if slots[i] < 0 or target_slots[i] < 0:
            continue
        angles = float(distances[move[i]]) * frequencies
        key = source[slots[i]]
        moved = key.clone()
        moved[:, first] = key[:, first] * angles.cos() - key[:, second] * angles.sin()
        moved[:, second] = key[:, first] * angles.sin() + key[:, second] * angles.cos()
        flat[target_slots[i]] = moved
    return result
