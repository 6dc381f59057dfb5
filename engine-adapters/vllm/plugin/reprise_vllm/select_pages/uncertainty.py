"""Detects, page by page, whether requests' output has become uncertain (CHESS, 3.3)."""

import numpy as np
import torch


class Uncertain:
    """
    Tracks the entropies of sparse requests' tokens, on the device.

    The result for a page may come a step late, because the host does not wait.
    """

    def __init__(self, slots: int, page: int, max_entropy: float, max_varentropy: float, device: torch.device) -> None:
        self._page, self._max_entropy, self._max_varentropy = page, max_entropy, max_varentropy
        self._state = torch.zeros(slots, 3, device=device)
        self._pending = torch.zeros(slots, dtype=torch.int32, device=device)
        self._on_host = torch.zeros(slots, dtype=torch.int32, pin_memory=device.type == "cuda")

    def begin(self, slot: int) -> None:
        """Resets a slot for a new request."""
        self._state[slot] = 0
        self._pending[slot] = 0

    def follow(self, logits: torch.Tensor, slots: torch.Tensor) -> None:
        """Takes one more step's logits [S, vocabulary] of the requests in these slots (int64 [S])."""
        state = self._state.index_select(0, slots)
        _, triggered = page_entropies(logits, state, self._page, self._max_entropy, self._max_varentropy)
        self._state[slots] = state
        self._pending[slots] = torch.maximum(self._pending[slots], triggered)
        self._on_host.copy_(self._pending, non_blocking=True)

    def take_triggered(self, slots: np.ndarray) -> np.ndarray:
        """Returns whether a page of each request exceeded both thresholds since the last call (bool [S]); clears it."""
        triggered = self._on_host.numpy()[slots] > 0
        self._pending[torch.from_numpy(slots[triggered]).to(self._pending.device)] = 0
        self._on_host[torch.from_numpy(slots[triggered])] = 0
        return triggered


def page_entropies(
    logits: torch.Tensor, state: torch.Tensor, page: int, max_entropy: float, max_varentropy: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Runs `reprise_kernels.generation_uncertainty`, or the same in torch if Triton cannot run.

    Returns float32 [S, 2], mean and variance of the entropies of a page that has just filled, NaN otherwise; and int32
    [S], whether both exceed their thresholds. Updates `state`.
    """
    if logits.device.type == "cuda":
        from reprise_kernels.generation_uncertainty import generation_uncertainty

        found = generation_uncertainty(logits, state, page, max_entropy, max_varentropy)
        return found.page, found.triggered
    log_p = logits.float().log_softmax(-1)
    entropy = -(log_p.exp() * log_p.clamp_min(-1e30)).sum(-1)
    count, mean, squares = state.unbind(1)
    # Welford's update
    count = count + 1
    away = entropy - mean
    mean = mean + away / count
    squares = squares + away * (entropy - mean)
    full = count >= page
    state.copy_(torch.stack([count, mean, squares], 1).masked_fill_(full[:, None], 0))
    variance = squares / count
    figures = torch.stack([mean, variance], 1).masked_fill_(~full[:, None], torch.nan)
    return figures, (full & (mean > max_entropy) & (variance > max_varentropy)).int()
