"""Predicts how much attention a page will get from a few numbers about its keys."""

import math

import torch


def key_moments(keys: torch.Tensor) -> torch.Tensor:
    """The mean and variance of a page's keys per dimension: float32 [n, H, 2 D] for keys [n, page, H, D]."""
    mean = keys.float().mean(1, keepdim=True)
    # on CPUs three passes are several times as fast as torch.var_mean over keys in this layout
    return torch.cat([mean[:, 0], (keys - mean).square_().mean(1)], -1)


def key_bounds(keys: torch.Tensor) -> torch.Tensor:
    """The minimum and maximum of a page's keys per dimension: float32 [n, H, 2 D] (Quest, 3.2)."""
    return torch.cat(torch.aminmax(keys.float(), dim=1), -1)


def log_mass(query: torch.Tensor, moments: torch.Tensor, tokens: int) -> torch.Tensor:
    """Estimates log mean_t exp(q . k_t) over each page's tokens: float32 [S, H, G, P].

    query    float32 [S, H, G, D], scaled as in attention
    moments  float32 [S, H, 2 D, P], from `key_moments`

    If dimensions are independent, q . k_t has mean q . m and variance s^2 = sum_d q_d^2 v_d over the tokens of a page.
    If it were normal over infinitely many tokens, the logarithm would be q . m + s^2 / 2. A page has few tokens: beyond
    s = sqrt(2 log tokens) the largest term decides, as in the random energy model, and it grows only linearly in s.
    """
    requests, heads, _, pages = moments.shape
    # one product for both: means times queries, variances times squared queries
    both = torch.stack([query, query * query], 2).flatten(0, 2)
    products = torch.bmm(both, moments.reshape(len(both), -1, pages)).view(requests, heads, 2, -1, pages)
    mean, spread = products[:, :, 0], products[:, :, 1].clamp_min_(0).sqrt_()
    end = math.sqrt(2 * math.log(tokens))
    # s^2 / 2 up to `end`, then its tangent: s * end - log tokens
    inside = spread.clamp_max(end)
    return torch.addcmul(mean, inside, spread.sub_(inside, alpha=0.5))


def upper_bound(query: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
    """Quest's upper bound of q . k_t over a page's tokens: float32 [S, H, G, P] for `key_bounds` [S, H, 2 D, P]."""
    return torch.matmul(torch.cat([query.clamp(max=0), query.clamp(min=0)], -1), bounds)
