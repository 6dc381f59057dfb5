"""The specification of generation_uncertainty, in float64 on the CPU."""

import torch


def naive_entropy(logits: torch.Tensor) -> torch.Tensor:
    """The entropy of each row's distribution in nats: H = - sum_i p_i log p_i, p = softmax(logits); [B] of [B, V].

    A logit of -inf, a token that may not come, adds nothing.
    """
    log_p = logits.double().log_softmax(1)
    return -torch.where(log_p == -torch.inf, 0.0, log_p.exp() * log_p).sum(1)


def naive_page_uncertainty(
    entropies: torch.Tensor, max_entropy: float, max_varentropy: float
) -> tuple[float, float, bool]:
    """Of a page's tokens' entropies: their mean, their variance, and whether both exceed their thresholds.

    CHESS, section 3.3: the mean stands for the model's lack of confidence, the variance ("varentropy") for instability.
    """
    mean, variance = float(entropies.double().mean()), float(entropies.double().var(correction=0))
    return mean, variance, mean > max_entropy and variance > max_varentropy
