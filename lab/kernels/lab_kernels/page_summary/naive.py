"""The specifications of page_summary, mean_rows and recent_anchor, in float64 on the CPU."""

import torch


def naive_page_summary(
    k: torch.Tensor, page_ids: torch.Tensor, tokens: torch.Tensor, layer: int, out: torch.Tensor
) -> torch.Tensor:
    """Returns a float64 copy of `out` with the mean keys of these pages in one layer (CHESS, equation 1).

    k         [pages, page_size, Hkv, D] of one layer; out [pages, layers, Hkv * D]: a page's vector spans all layers
    page_ids  [n] physical pages, negative: none; tokens [n] how many tokens each holds, from its first place on

        out[p, layer, h * D + d] = mean of k[p, t, h, d] over t < tokens
    """
    result = out.double().clone()
    for page, count in zip(page_ids.tolist(), tokens.tolist(), strict=True):
        if page >= 0 and count > 0:
            result[page, layer] = k[page, :count].double().mean(0).flatten()
    return result


def naive_mean_rows(rows: torch.Tensor, count: torch.Tensor, size: int, index: torch.Tensor | None) -> torch.Tensor:
    """Means of `size` rows each (CHESS, equation 2): float64 [B, ceil(n / size), C].

    rows   [B, n, C], or with index [B, n] rows [R, C], where row j of request b is rows[index[b, j]]
    count  [B] how many rows a request has, at most n; the last mean is over the remaining rows, a mean of no rows is 0

    Applied to page vectors, this gives the centroids of chunks; applied to those, the centroids of grids.
    """
    width = rows.shape[1] if index is None else index.shape[1]
    out = torch.zeros(len(count), -(-width // size), rows.shape[-1], dtype=torch.float64)
    for b, n in enumerate(count.clamp(max=width).tolist()):
        own = (rows[b] if index is None else rows[index[b].long()])[:n].double()
        for group in range(-(-n // size)):
            out[b, group] = own[group * size : (group + 1) * size].mean(0)
    return out


def naive_recent_anchor(rows: torch.Tensor, count: torch.Tensor, window: int, index: torch.Tensor) -> torch.Tensor:
    """The mean of each request's last `window` rows (CHESS, equation 3): float64 [B, C]; 0 without rows."""
    out = torch.zeros(len(count), rows.shape[-1], dtype=torch.float64)
    for b, n in enumerate(count.clamp(max=index.shape[1]).tolist()):
        own = rows[index[b, max(n - window, 0) : n].long()].double()
        if len(own):
            out[b] = own.mean(0)
    return out
