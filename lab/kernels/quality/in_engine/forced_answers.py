"""Reads a model's distribution of each answer token, and forces the token itself."""

from typing import Any

import torch


class ForcedAnswers:
    """Sees a model's logits: one prompt at a time, with greedy sampling."""

    def __init__(self) -> None:
        self._seen: list[torch.Tensor] = []
        self._forced: list[int] | None = None

    def watch(self, model: Any) -> None:
        """Intercepts the logits of one of vLLM's models."""
        compute = model.compute_logits
        model.compute_logits = lambda *arguments, **named: self.take(compute(*arguments, **named))

    def begin(self, forced: list[int] | None) -> None:
        """Starts an answer. `forced`: its tokens; None or past its end, the model chooses."""
        self._forced, self._seen = forced, []

    def log_probabilities(self) -> torch.Tensor:
        """Returns the log-probabilities of the answer since `begin`, [tokens, vocabulary]."""
        return torch.cat(self._seen)

    def take(self, logits: torch.Tensor) -> torch.Tensor:
        """Keeps what a model says of the next token, [requests, vocabulary]. Returns what to sample it from."""
        place = len(self._seen)
        self._seen.append(logits[-1:].float().log_softmax(-1).clone())
        if self._forced is not None and place < len(self._forced):
            logits = torch.full_like(logits, -1e9)
            logits[:, self._forced[place]] = 0
        return logits
