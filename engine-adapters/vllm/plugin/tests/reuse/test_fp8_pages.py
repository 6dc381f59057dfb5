"""Pages in fp8: their rows are read as what they stand for, and fp8 queries as what they were."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from test_page_layouts import BLOCKS, DIM, HEADS, LAYOUTS, SIZE, Layout

from reprise_vllm.engine.nested_forward import NestedForward
from reprise_vllm.engine.page_layout import PageLayout

FORMATS = {"fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}
SCALES = 0.3, 5.0


def layer_of(layout: Layout, name: str, scales: tuple[float, float] = SCALES) -> SimpleNamespace:
    """A layer that writes as vLLM's backends do: divided by its scales, in fp8, into pages of bytes."""

    def update(_layer: Any, keys: torch.Tensor, values: torch.Tensor, cache: torch.Tensor, slots: torch.Tensor) -> None:
        assert keys.dtype == values.dtype == torch.bfloat16
        stored = [(keys / scales[0]).to(FORMATS[name]), (values / scales[1]).to(FORMATS[name])]
        layout.write(cache, slots, *(one.view(torch.uint8) for one in stored))

    return SimpleNamespace(
        num_kv_heads=HEADS, head_size=DIM, impl=SimpleNamespace(do_kv_cache_update=update), kv_cache_dtype=name,
        _k_scale_float=scales[0], _v_scale_float=scales[1],
    )  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("where", LAYOUTS)
def test_rows_come_back_rounded_and_written_again_they_do_not_change(name: str, where: str) -> None:
    layers = [layer_of(LAYOUTS[where], name), layer_of(LAYOUTS[where], name, (1.0, 0.1))]
    caches = [torch.zeros(LAYOUTS[where].shape, dtype=torch.uint8) for _ in layers]
    pages = PageLayout(layers[0], caches[0], BLOCKS, SIZE, torch.bfloat16)
    pages.know(layers, caches)
    slots = torch.randperm(BLOCKS * SIZE, generator=torch.Generator().manual_seed(1))
    rows = torch.randn(2, len(slots), HEADS, DIM, generator=torch.Generator().manual_seed(2)).to(torch.bfloat16)
    for layer, cache in zip(layers, caches, strict=True):
        layer.impl.do_kv_cache_update(layer, *rows, cache, slots)
        read = pages.read_slots(cache, slots)
        for one, written in zip(read, rows, strict=True):
            # of numbers too small for the format, only a step of it is kept
            torch.testing.assert_close(one, written, rtol=0.6 * pages.rounding, atol=1e-2)
        before = cache.clone()
        layer.impl.do_kv_cache_update(layer, *read, cache, slots)
        assert torch.equal(cache, before)
        blocks = torch.arange(BLOCKS)
        in_order = pages.read(cache, blocks, 0, BLOCKS * SIZE)
        assert all(torch.equal(one[slots], other) for one, other in zip(in_order, read, strict=True))


def test_queries_in_fp8_are_attended_with_as_what_they_were() -> None:
    seen: list[torch.Tensor] = []
    forward = object.__new__(NestedForward)
    forward._names, forward._slots, forward._is_under_way, forward._updates_in_forward = ["a", "b"], None, True, False
    forward._attend = lambda layer, q, k, v, output: seen.append(q)
    layer = SimpleNamespace(impl=SimpleNamespace(forward=None), _q_scale_float=0.5)
    forward._intercept(layer, 0)
    queries, rows = torch.randn(3, HEADS, DIM), torch.zeros(3, HEADS, DIM)
    layer.impl.forward(layer, (queries / 0.5).to(torch.float8_e4m3fn), rows, rows, None, None, rows)
    assert seen[0].dtype == rows.dtype
    torch.testing.assert_close(seen[0], queries, rtol=0.07, atol=1e-2)
