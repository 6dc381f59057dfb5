"""The slot table of a request that recomputes some tokens of shared chunks."""

import torch

from reprise_kernels.checks import check_index


def overlay_slots(slot_table: torch.Tensor, positions: torch.Tensor, own_slots: torch.Tensor) -> torch.Tensor:
    """A copy of `slot_table` in which the tokens at `positions` lie in the request's own slots.

    slot_table [B, Nmax]; positions [B, n] as `select_tokens` gives them, negative: none; own_slots [B, n]

    The shared pages are never written: what is recomputed goes to own slots, and nobody visits its stale original.
    """
    check_index("slot_table", slot_table, (None, None), slot_table.device)
    check_index("positions", positions, (len(slot_table), None), slot_table.device)
    check_index("own_slots", own_slots, tuple(positions.shape), slot_table.device)
    # what has no position goes to a column of its own, which is then cut off
    width = slot_table.shape[1]
    wider = torch.nn.functional.pad(slot_table, (0, 1))
    where = torch.where(positions >= 0, positions, width).long()
    return wider.scatter_(1, where, own_slots)[:, :width].contiguous()
