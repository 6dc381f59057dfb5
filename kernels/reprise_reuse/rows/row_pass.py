"""Computes rows of loads: one forward pass of the engine's model for all of them."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from reprise_reuse.device import to_device
from reprise_reuse.question_attention import padded
from reprise_reuse.rows.engine_parts import Attend, Requests
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.row_choice import OpenLoad

Part = tuple[OpenLoad, torch.Tensor]
"""a load, and some of its rows: int64 [n], ascending"""


def compute_rows(prompt: PromptPages, parts: Sequence[Part]) -> None:
    """Computes rows of loads and writes their keys and values to the pages.

    Each row attends to all rows before it, and these must be filled, computed earlier, or among a part's rows. There
    are as few passes as the engine's limits allow.
    """
    if prompt.captured is not None and len(parts) == 1 and prompt.captured.rows.takes(*parts[0]):
        prompt.captured.rows.compute(*parts[0])
        return
    for part in _passes(parts, prompt.forward.most_rows):
        tokens = torch.cat([one.tokens[rows] for one, rows in part])
        positions = torch.cat([rows for _, rows in part])
        if prompt.reads_in_place:
            slots = torch.cat([one.device_slots[rows] for one, rows in part])
            prompt.forward.write(tokens, positions, slots, _attend_in_place(prompt, part, positions))
            continue
        requests = Requests([one.blocks for one, _ in part], [len(rows) for _, rows in part])
        prompt.forward.compute(tokens, positions, requests)


def _attend_in_place(prompt: PromptPages, part: Sequence[Part], positions: torch.Tensor) -> Attend:
    """Returns the attention of rows to the pages, by a kernel: each tile of rows reads the keys before it once."""
    device = positions.device
    places = [prompt.places(one.slots).astype(np.int32) for one, _ in part]
    sizes = np.cumsum([0, *(len(rows) for _, rows in part)])
    cu_q, kv_len = to_device(np.concatenate((sizes, [len(one) for one in places])).astype(np.int32), device).split(
        [len(sizes), len(places)]
    )
    return attend_rows(prompt, positions.int(), cu_q, kv_len, to_device(padded(places), device))


def attend_rows(
    prompt: PromptPages, q_pos: torch.Tensor, cu_q: torch.Tensor, kv_len: torch.Tensor, slot_table: torch.Tensor
) -> Attend:
    """Returns the attention of rows at `q_pos` to the pages; the arguments are those of `sparse_prefill_attention`."""
    from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

    where = {"q_pos": q_pos, "cu_q": cu_q, "slot_table": slot_table, "kv_len": kv_len}

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        keys, values, _ = prompt.in_place(layer)
        q, output = (one.view(len(q), -1, keys.shape[3]) for one in (q, output))
        sparse_prefill_attention(q, k=keys, v=values, scale=prompt.scale, out=output, **where)

    return attend


def _passes(parts: Sequence[Part], most: int) -> Iterator[list[Part]]:
    """Yields parts in order, `most` rows at a time: later rows of a load attend to its earlier ones."""
    held: list[Part] = []
    room = most
    for one, rows in parts:
        while len(rows):
            held.append((one, rows[:room]))
            room, rows = room - len(held[-1][1]), rows[room:]
            if not room:
                yield held
                held, room = [], most
    if held:
        yield held
