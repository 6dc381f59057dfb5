"""kv_fill: checks its arguments and launches the kernel."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton

from reprise_kernels.kv_fill.naive import Turns
from reprise_kernels.kv_fill.triton import kv_fill_kernel
from reprise_kernels.launch.checks import FLOATS, check_index, check_runnable, check_tensor
from reprise_kernels.launch.launch_configs import launch_config, on_device

INTERPRETED = {"rows": 16, "warps": 4}


class RowsOfLayers(NamedTuple):
    """Where rows of keys and values are in each layer: addresses, and strides that all layers share.

    The memory must stay where it is for as long as this is used: torch does not know of it.
    """

    keys: torch.Tensor
    """int64 [layers]: the address of each layer's keys [rows, heads, size], on the device that reads them"""
    values: torch.Tensor
    shape: tuple[int, int, int]
    """rows, heads, and numbers of a head"""
    strides: tuple[int, int]
    """from one row to the next, and from one head to the next, in numbers; those of a head follow one another"""
    dtype: torch.dtype

    @staticmethod
    def of(layers: Sequence[tuple[torch.Tensor, torch.Tensor]], device: torch.device) -> "RowsOfLayers":
        """Describes each layer's keys and values [rows, heads, size] in memory that `device` can read.

        Raises ValueError unless all are laid out alike and begin at multiples of 16 bytes.
        """
        first = layers[0][0]
        every = [one for layer in layers for one in layer]
        if len({(tuple(one.shape), one.stride(), one.dtype) for one in every}) != 1:
            raise ValueError("the layers' rows are not laid out alike")
        strides = first.stride()
        if strides[2] != 1 or any(step * first.element_size() % 16 for step in strides[:2]):
            raise ValueError(f"rows with strides {strides} are no whole pieces of 16 bytes")
        if any(one.data_ptr() % 16 for one in every):
            raise ValueError("rows do not begin at a multiple of 16 bytes")
        at = torch.tensor([[one.data_ptr() for one in layer] for layer in layers], device=device).T.contiguous()
        return RowsOfLayers(at[0], at[1], tuple(first.shape), strides[:2], first.dtype)


def kv_fill(
    source: RowsOfLayers,
    source_slots: torch.Tensor,
    target: RowsOfLayers,
    target_slots: torch.Tensor,
    distances: torch.Tensor,
    turns: Turns,
    *,
    interleaved: bool,
    programs: int | None = None,
) -> None:
    """Fills rows of all layers from rows elsewhere, with keys at their new positions, in one launch.

    Specified by `naive_kv_fill`. Slots and distances are int32 [N]. Programs run in any order, so no source row may be
    a target row. Nothing waits for the device, and nobody looks at the slots: they must be within the rows.

    programs  at most so many at a time, which leaves the rest of the GPU to whoever computes; default: as many as fit
    """
    device, layers = turns.cos.device, len(source.keys)
    check_runnable(turns.cos)
    if source.dtype not in FLOATS or (device.type == "cpu" and source.dtype == torch.bfloat16):
        raise ValueError(f"rows of {source.dtype} cannot be filled on {device}")
    if target.dtype != source.dtype or target.shape[1:] != source.shape[1:]:
        raise ValueError(
            f"the target's rows are {target.dtype} {target.shape[1:]}, the source's {source.dtype} {source.shape[1:]}"
        )
    for name, addresses in (("keys", source.keys), ("values", source.values), ("target", target.keys)):
        check_tensor(f"the addresses of {name}", addresses, (layers,), (torch.int64,), device)
    for name, index in (("source_slots", source_slots), ("target_slots", target_slots), ("distances", distances)):
        check_index(name, index, (len(source_slots),), device)
    half = turns.cos.shape[1]
    for name, turn in (("cos", turns.cos), ("sin", turns.sin)):
        check_tensor(f"the turns' {name}", turn, (len(turns.cos), half), (torch.float32,), device)
        if not turn.is_contiguous():
            raise ValueError(f"the turns' {name} has strides {turn.stride()}, it must be contiguous")
    if not 2 <= 2 * half <= source.shape[2]:
        raise ValueError(f"the rotary embedding turns {2 * half} dimensions, a head has {source.shape[2]}")
    count, (_, heads, head_dim) = len(source_slots), source.shape
    if count == 0:
        return
    rest = max(head_dim - 2 * half, 1)
    config = launch_config("kv_fill", INTERPRETED)
    tiles = triton.cdiv(count, config["rows"]) * len(source.keys)
    like = torch.empty(0, dtype=source.dtype, device=turns.cos.device)
    with on_device(turns.cos):
        kv_fill_kernel[(min(tiles, programs or tiles),)](
            source.keys, source.values, source_slots, target.keys, target.values, target_slots, distances,
            turns.cos, turns.sin, like, count, len(source.keys), *source.strides, *target.strides,
            HEADS=heads, HEAD_DIM=head_dim, ROTARY_DIM=2 * half, INTERLEAVED=interleaved, BLOCK_T=config["rows"],
            BLOCK_PAIRS=triton.next_power_of_2(half), BLOCK_REST=triton.next_power_of_2(rest),
            BLOCK_D=triton.next_power_of_2(head_dim), num_warps=config["warps"],
        )  # fmt: skip
