"""The specification of generation_uncertainty, in float64 on the CPU."""

import torch


def naive_entropy(logits: torch.Tensor) -> torch.Tensor:
    """The entropy of each row's distribution in nats: H = - sum_i p_i log p_i, p = softmax(logits); [B, V] -> [B].

    A logit of -inf (a forbidden token) adds nothing.
    """
    log_p = logits.double().log_softmax(1)
    return -torch.where(log_p == -torch.inf, 0.0, log_p.exp() * log_p).sum(1)


def naive_page_uncertainty(
    entropies: torch.Tensor, max_entropy: float, max_varentropy: float
) -> tuple[float, float, bool]:
    """Returns the mean and variance of a page's token entropies, and whether both exceed their thresholds.

    CHESS, section 3.3: the mean measures the model's lack of confidence, the variance ("varentropy") its instability.
    """
    mean, variance = float(entropies.double().mean()), float(entropies.double().var(correction=0))
    return mean, variance, mean > max_entropy and variance > max_varentropy
