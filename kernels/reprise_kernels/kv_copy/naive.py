"""The specification of kv_copy, in the caches' own data type because it only copies."""

import torch


def naive_pages_to_host(
    layers: list[torch.Tensor], pages: torch.Tensor, host: torch.Tensor, host_pages: torch.Tensor
) -> torch.Tensor:
    """Returns a copy of `host` that holds these pages of all layers.

    layers      keys, then values, of each layer: [P, page_size, Hkv, D] each, all with the same layout
    host        [Q, planes, page_size, Hkv, D]: a page of all layers is one piece ("page first")
    pages, host_pages  [n]; nothing is copied if either is negative

        host[host_pages[i], l] = layers[l][pages[i]]
    """
    result = host.clone()
    for page, place in zip(pages.tolist(), host_pages.tolist(), strict=True):
        if page >= 0 and place >= 0:
            result[place] = torch.stack([layer[page] for layer in layers])
    return result


def naive_pages_to_device(
    layers: list[torch.Tensor], pages: torch.Tensor, host: torch.Tensor, host_pages: torch.Tensor
) -> list[torch.Tensor]:
    """Returns copies of the layers in which layers[l][pages[i]] = host[host_pages[i], l]."""
    result = [layer.clone() for layer in layers]
    for page, place in zip(pages.tolist(), host_pages.tolist(), strict=True):
        if page >= 0 and place >= 0:
            for plane, layer in enumerate(result):
                layer[page] = host[place, plane]
    return result
