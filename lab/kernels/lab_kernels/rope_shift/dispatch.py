"""rope_shift: checks its arguments and launches the kernel."""

import torch
import triton

from lab_kernels.launch.launch_spaces import launch_config
from lab_kernels.rope_shift.rotary import Rotary
from lab_kernels.rope_shift.triton import rope_shift_kernel
from reprise_kernels.kv_fill import Turns
from reprise_kernels.launch.checks import check_cache, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import on_device

INTERPRETED = {"tokens": 16, "warps": 4}


def rope_shift(
    keys: torch.Tensor,
    slots: torch.Tensor,
    move: torch.Tensor,
    distances: torch.Tensor | Turns,
    rotary: Rotary,
    target: torch.Tensor | None = None,
    target_slots: torch.Tensor | None = None,
) -> torch.Tensor:
    """Moves cached keys by their chunk's distance, in place or into `target`'s slots. Returns the cache they are in.

    Specified by `naive_rope_shift`. In place, each slot may appear only once. Between two caches, or two places in one
    cache that do not overlap, gathering, turning and scattering take one pass. Nothing waits for the device. Instead of
    the distances, `rotary.turns(distances)` may be passed, which is the same for all layers.
    """
    if (target is None) != (target_slots is None):
        raise ValueError("target and target_slots are given both, or neither to move the keys in place")
    in_place = target is None
    target, target_slots = (keys, slots) if target is None or target_slots is None else (target, target_slots)
    _check(keys, slots, move, distances, rotary, target, target_slots)
    if len(slots) == 0:
        return target
    cos, sin = distances if isinstance(distances, Turns) else rotary.turns(distances)
    heads, head_dim = keys.shape[2:]
    half = rotary.dim // 2
    rest = 0 if in_place else head_dim - rotary.dim
    config = launch_config("rope_shift", INTERPRETED)
    with on_device(keys):
        rope_shift_kernel[(triton.cdiv(len(slots), config["tokens"]),)](
            keys, slots, target, target_slots, move, cos, sin, len(slots),
            keys.stride(1), keys.stride(2), target.stride(1), target.stride(2),
            HEADS=heads, HEAD_DIM=head_dim, ROTARY_DIM=rotary.dim, INTERLEAVED=rotary.interleaved,
            COPY_REST=rest > 0, BLOCK_T=config["tokens"], BLOCK_PAIRS=triton.next_power_of_2(half),
            BLOCK_REST=triton.next_power_of_2(max(rest, 1)), num_warps=config["warps"],
        )  # fmt: skip
    return target


def _check(
    keys: torch.Tensor,
    slots: torch.Tensor,
    move: torch.Tensor,
    distances: torch.Tensor | Turns,
    rotary: Rotary,
    target: torch.Tensor,
    target_slots: torch.Tensor,
) -> None:
    check_runnable(keys)
    check_cache("keys", keys)
    check_cache("target", target, keys.device)
    if target.dtype != keys.dtype or target.shape[2:] != keys.shape[2:]:
        raise ValueError(
            f"target is {target.dtype} with heads {tuple(target.shape[2:])}, "
            f"keys are {keys.dtype} with heads {tuple(keys.shape[2:])}: they must agree"
        )
    for name, index in (("slots", slots), ("target_slots", target_slots), ("move", move)):
        check_index(name, index, (len(slots),), keys.device)
    if isinstance(distances, Turns):
        for name, turn in zip(("cos", "sin"), distances, strict=True):
            check_tensor(
                f"the turns' {name}", turn, (len(distances.cos), rotary.dim // 2), (torch.float32,), keys.device
            )
            if not turn.is_contiguous():
                raise ValueError(f"the turns' {name} has strides {turn.stride()}, it must be contiguous")
    else:
        check_tensor("distances", distances, (None,), (torch.int32, torch.int64), keys.device)
    if not 2 <= rotary.dim <= keys.shape[3]:
        raise ValueError(f"the rotary embedding turns {rotary.dim} dimensions, a head has {keys.shape[3]}")
