"""The slot table of a request that recomputes some tokens of shared chunks."""

import torch

from reprise_kernels.launch.checks import check_index


def overlay_slots(slot_table: torch.Tensor, positions: torch.Tensor, own_slots: torch.Tensor) -> torch.Tensor:
    """Returns a copy of `slot_table` in which the tokens at `positions` have the request's own slots.

    slot_table [B, Nmax]; positions [B, n] as from `select_tokens`, negative: none; own_slots [B, n]

    Shared pages are never written: recomputed tokens go to own slots, and nothing reads the stale originals.
    """
    check_index("slot_table", slot_table, (None, None), slot_table.device)
    check_index("positions", positions, (len(slot_table), None), slot_table.device)
    check_index("own_slots", own_slots, tuple(positions.shape), slot_table.device)
    # entries without a position go to an extra column, which is then cut off
    width = slot_table.shape[1]
    wider = torch.nn.functional.pad(slot_table, (0, 1))
    where = torch.where(positions >= 0, positions, width).long()
    return wider.scatter_(1, where, own_slots)[:, :width].contiguous()
