"""How much attention a page will get, from a few numbers about its keys."""

import math

import torch


def key_moments(keys: torch.Tensor) -> torch.Tensor:
    """The mean and the variance of a page's keys in each dimension: float32 [n, H, 2 D] of keys [n, page, H, D]."""
    mean = keys.float().mean(1, keepdim=True)
    # on CPUs three passes are several times as fast as torch.var_mean over keys as they lie
    return torch.cat([mean[:, 0], (keys - mean).square_().mean(1)], -1)


def key_bounds(keys: torch.Tensor) -> torch.Tensor:
    """The least and the greatest number of a page's keys in each dimension: float32 [n, H, 2 D] (Quest, 3.2)."""
    return torch.cat(torch.aminmax(keys.float(), dim=1), -1)


def log_mass(query: torch.Tensor, moments: torch.Tensor, tokens: int) -> torch.Tensor:
    """An estimate of log mean_t exp(q . k_t) over each page's tokens: float32 [S, H, G, P].

    query    float32 [S, H, G, D], scaled as attention scales it
    moments  float32 [S, H, 2 D, P], of `key_moments`

    With dimensions taken for independent, q . k_t has mean q . m and variance s^2 = sum_d q_d^2 v_d over the tokens
    of a page. Were it normal over infinitely many tokens, the logarithm were q . m + s^2 / 2. A page has few tokens:
    beyond s = sqrt(2 log tokens) the largest one decides, as in the random energy model, and it grows like s only.
    """
    requests, heads, _, pages = moments.shape
    # one product for both: means with queries, variances with their squares
    both = torch.stack([query, query * query], 2).flatten(0, 2)
    products = torch.bmm(both, moments.reshape(len(both), -1, pages)).view(requests, heads, 2, -1, pages)
    mean, spread = products[:, :, 0], products[:, :, 1].clamp_min_(0).sqrt_()
    end = math.sqrt(2 * math.log(tokens))
    # s^2 / 2 up to `end`, and from there its tangent: s * end - log tokens
    inside = spread.clamp_max(end)
    return torch.addcmul(mean, inside, spread.sub_(inside, alpha=0.5))


def upper_bound(query: torch.Tensor, bounds: torch.Tensor) -> torch.Tensor:
    """Quest's bound of q . k_t over a page's tokens: float32 [S, H, G, P] of `key_bounds` [S, H, 2 D, P]."""
    return torch.matmul(torch.cat([query.clamp(max=0), query.clamp(min=0)], -1), bounds)
