"""kv_copy against its specification, exactly, because it copies bytes."""

import pytest
import torch
from cases import DEVICE, generator, indices
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.kv_copy import (
    LayerPages,
    naive_pages_to_device,
    naive_pages_to_host,
    pages_to_device,
    pages_to_host,
    rows_to_device,
    rows_to_host,
)

# copying needs no arithmetic, so bfloat16 is right under the interpreter too
dtypes = st.sampled_from([torch.float32, torch.float16, torch.bfloat16])


def host_memory(shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator) -> torch.Tensor:
    host = torch.randn(shape, generator=random).to(dtype)
    return host.pin_memory() if DEVICE == "cuda" else host


def draw(seed: int, dtype: torch.dtype, planes: int, page_size: int, n: int) -> tuple:
    """Draws layers in one tensor as in vLLM, host pages, and which pages go where."""
    random = generator(seed)
    whole = torch.randn(planes // 2, 2, 7, page_size, 2, 24, generator=random).to(dtype).to(DEVICE)
    layers = [kind for layer in whole for kind in layer]
    host = host_memory((6, planes, page_size, 2, 24), dtype, random)
    pages, places = torch.randperm(7, generator=random)[:n], torch.randperm(6, generator=random)[:n]
    if n > 2:
        pages[0], places[1] = -1, -1
    return layers, pages, host, places


cases = {
    "seed": st.integers(0, 2**32 - 1),
    "dtype": dtypes,
    "planes": st.sampled_from([2, 6]),
    "page_size": st.sampled_from([16, 64]),
    "n": st.integers(0, 5),
}


@given(**cases)
def test_pages_of_all_layers_go_to_the_host_and_nothing_else_there_changes(seed, dtype, planes, page_size, n):
    layers, pages, host, places = draw(seed, dtype, planes, page_size, n)
    expected = naive_pages_to_host([layer.cpu() for layer in layers], pages, host, places)
    pages_to_host(LayerPages(layers), indices(pages), host, indices(places))
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    assert torch.equal(host, expected)


@given(**cases)
def test_pages_of_all_layers_come_back_and_no_other_page_changes(seed, dtype, planes, page_size, n):
    layers, pages, host, places = draw(seed, dtype, planes, page_size, n)
    expected = naive_pages_to_device([layer.cpu() for layer in layers], pages, host, places)
    pages_to_device(LayerPages(layers), indices(pages), host, indices(places))
    for layer, wanted in zip(layers, expected, strict=True):
        assert torch.equal(layer.cpu(), wanted)


def test_there_and_back_is_the_same_page_elsewhere():
    layers, _, host, _ = draw(5, torch.float16, 4, 16, 0)
    known = LayerPages(layers)
    pages_to_host(known, indices([2]), host, indices([4]))
    pages_to_device(known, indices([6]), host, indices([4]))
    assert all(torch.equal(layer[6], layer[2]) for layer in layers)


def test_what_the_kernel_cannot_take_is_refused_in_one_line():
    layers, pages, host, places = draw(5, torch.float32, 4, 16, 3)
    for wrong, message in (
        ([], "there are no layers"),
        ([layers[0], layers[1][:3]], "a layer has shape"),
        ([layers[0], layers[1].half()], "a layer is torch.float16"),
        ([layer.transpose(1, 2) for layer in layers], "no one piece"),
        ([layer[:, :, :, 1:2] for layer in layers], "no one piece"),
    ):
        with pytest.raises(ValueError, match=message):
            LayerPages(wrong)
    known = LayerPages(layers)
    for arguments, message in (
        ((indices(pages), host[:, :3], indices(places)), "host has shape"),
        ((indices(pages), host[::2], indices(places)), "host has strides"),
        ((indices(pages), host, indices(places[:1])), "host_pages has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            pages_to_host(known, *arguments)


@given(
    seed=st.integers(0, 2**32 - 1), dtype=dtypes, row=st.sampled_from([(1, 8), (2, 24), (8, 128), (3, 520)]),
    count=st.integers(0, 40),
)  # fmt: skip
def test_rows_go_to_their_slots_and_come_back_and_nothing_else_changes(seed, dtype, row, count):
    random = generator(seed)
    host = host_memory((45, *row), dtype, random)
    rows, slots = torch.randn(count, *row, generator=random).to(dtype), torch.randperm(45, generator=random)[:count]
    expected = host.clone()
    expected[slots] = rows
    rows_to_host(rows.to(DEVICE), host, indices(slots))
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    assert torch.equal(host, expected)
    assert torch.equal(rows_to_device(host, indices(slots)).cpu(), rows)


def test_rows_that_are_no_aligned_pieces_are_refused():
    host = host_memory((4, 3, 3), torch.float16, generator(0))
    with pytest.raises(ValueError, match="a row of 18 bytes"):
        rows_to_device(host, indices([0]))
    with pytest.raises(ValueError, match="both must be contiguous"):
        rows_to_host(torch.zeros(2, 16, 2, device=DEVICE).transpose(1, 2), torch.zeros(4, 2, 16), indices([0, 1]))
