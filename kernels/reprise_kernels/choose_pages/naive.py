"""The specification of choose_pages, in float64 on the CPU."""

import math

import torch


def naive_choose_pages(
    query: torch.Tensor, moments: torch.Tensor, due: torch.Tensor, tokens: int, scale: float, sinks: int, recent: int
) -> list[torch.Tensor]:
    """Returns the numbers of each request's chosen pages, ascending; int64 [listed] each.

    query    [T, Hq, D]: the queries of a decode step in one layer
    moments  [slots, H, 2 D, P]: the mean and the variance of a page's keys, per dimension
    due      [S, 5]: for each request its row of `query`, its slot, its complete pages, how many of these to list, and
             (not used here) its row of the table
    tokens   of a page
    scale    of attention's logits

    The first `sinks` and the last `recent` complete pages come first, then the others by score; of equal scores the
    lower page.
    """
    chosen = []
    for row, slot, full, listed, _ in due.tolist():
        score = naive_page_scores(query[row].double() * scale, moments[slot, :, :, :full], tokens)
        page = torch.arange(full)
        score[(page < sinks) | (page >= full - recent)] = torch.inf
        chosen.append(score.sort(descending=True, stable=True).indices[:listed].sort().values)
    return chosen


def naive_page_scores(query: torch.Tensor, moments: torch.Tensor, tokens: int) -> torch.Tensor:
    """Returns the attention that pages can expect, summed over query heads; float64 [P].

    query [Hq, D], scaled; moments [H, 2 D, P]; tokens of a page

    It is log E_t exp(q . k_t) of independent normal dimensions, with s^2 = sum_d q_d^2 v_d:

        a[h, p] = q . m + (s^2 / 2 if s <= e else s e - e^2 / 2),  e = sqrt(2 log tokens)
        score[p] = sum over query heads of the softmax over pages of a[h, p]
    """
    end = math.sqrt(2 * math.log(tokens))
    q = query.double().view(len(moments), -1, query.shape[1])
    mean, variance = moments.double().chunk(2, 1)
    spread = (q.square() @ variance).clamp(min=0).sqrt()
    inside = spread.clamp(max=end)
    return (q @ mean + inside * (spread - inside / 2)).softmax(-1).sum((0, 1))
