"""Rows are read from pages in any backend's layout, and keys are rotated as the model rotates them."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows import evidence
from reprise_reuse.rows.evidence import multiply
from reprise_vllm.engine.engine_rotation import EngineRotation
from reprise_vllm.engine.page_layout import PageLayout

BLOCKS, SIZE, HEADS, DIM, PACK = 7, 4, 2, 8, 4


@dataclass
class Layout:
    """A backend's cache layout, and how it is written, as by `do_kv_cache_update`."""

    shape: tuple[int, ...]
    keys_first: bool
    order: tuple[int, ...]
    """of (token, head, dimension) in a block"""
    packs_keys: bool = False
    is_beside: bool = False
    """values follow their keys, as in vLLM's FlashAttention"""

    def halves(self, cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns views of keys and values [blocks, token, head, dimension]."""
        if self.is_beside:
            keys, values = cache.transpose(1, 2).split(DIM, -1)
            return keys, values
        by_block = cache.movedim(1, 0) if self.keys_first else cache
        keys, values = (
            by_block[:, half].permute(0, *(self.order.index(dim) + 1 for dim in range(3))) for half in (0, 1)
        )
        return keys, values

    def write(self, cache: torch.Tensor, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Writes rows [n, heads, dimensions] to slots (int64 [n])."""
        at = slots // SIZE, slots % SIZE
        into_keys, into_values = self.halves(cache)
        if self.packs_keys:
            # vLLM's oldest layout: a head's tokens in groups of PACK dimensions
            block = cache[0] if self.keys_first else cache[:, 0]
            packed = block.reshape(len(block), HEADS, DIM // PACK, SIZE, PACK)
            for number, (of_block, offset) in enumerate(zip(*(one.tolist() for one in at), strict=True)):
                packed[of_block, :, :, offset] = keys[number].view(HEADS, DIM // PACK, PACK)
            block.copy_(packed.reshape(block.shape))
        else:
            into_keys[at] = keys
        into_values[at] = values


LAYOUTS = {
    "halves outside, tokens first": Layout((2, BLOCKS, SIZE, HEADS, DIM), True, (0, 1, 2)),
    "halves outside, heads first": Layout((2, BLOCKS, HEADS, SIZE, DIM), True, (1, 0, 2)),
    "blocks outside, tokens first": Layout((BLOCKS, 2, SIZE, HEADS, DIM), False, (0, 1, 2)),
    "blocks outside, dimensions before tokens": Layout((BLOCKS, 2, HEADS, DIM, SIZE), False, (1, 2, 0)),
    "keys beside values, heads first": Layout((BLOCKS, HEADS, SIZE, 2 * DIM), False, (1, 0, 2), is_beside=True),
    "packed keys": Layout((2, BLOCKS, HEADS, SIZE, DIM), True, (1, 0, 2), packs_keys=True),
}


def layer_of(layout: Layout) -> SimpleNamespace:
    def update(_layer, keys, values, cache, slots):
        layout.write(cache, slots, keys, values)

    return SimpleNamespace(num_kv_heads=HEADS, head_size=DIM, impl=SimpleNamespace(do_kv_cache_update=update))


@pytest.mark.parametrize("name", LAYOUTS)
@settings(deadline=None)
@given(
    slots=st.lists(st.integers(0, BLOCKS * SIZE - 1), min_size=1, max_size=BLOCKS * SIZE, unique=True),
    seed=st.integers(0, 99),
)
def test_rows_come_back_from_where_they_were_written(name, slots, seed):
    layout = LAYOUTS[name]
    cache = torch.zeros(layout.shape)
    pages = PageLayout(layer_of(layout), cache, BLOCKS, SIZE)
    keys, values = torch.randn(2, len(slots), HEADS, DIM, generator=torch.Generator().manual_seed(seed))
    layout.write(cache, torch.tensor(slots), keys, values)
    assert torch.equal(pages.keys_of_slots(cache, torch.tensor(slots)), keys)
    read = pages.read_slots(cache, torch.tensor(slots))
    assert torch.equal(read[0], keys) and torch.equal(read[1], values)


def test_scales_of_fp8_that_change_with_the_weights_are_read_anew():
    layout = next(iter(LAYOUTS.values()))

    def update(layer, keys, values, cache, slots):
        stored = keys / layer._k_scale_float, values / layer._v_scale_float
        layout.write(cache, slots, *(one.to(torch.float8_e4m3fn).view(torch.uint8) for one in stored))

    layer = layer_of(layout)
    layer.impl.do_kv_cache_update, layer.kv_cache_dtype = update, "fp8"
    layer._k_scale_float = layer._v_scale_float = 0.5
    cache, slots = torch.zeros(layout.shape, dtype=torch.uint8), torch.arange(BLOCKS * SIZE)
    pages = PageLayout(layer, cache, BLOCKS, SIZE, torch.bfloat16)
    pages.know([layer], [cache])
    layer._k_scale_float = layer._v_scale_float = 1.0
    rows = torch.randn(2, len(slots), HEADS, DIM).to(torch.bfloat16)
    update(layer, *rows, cache, slots)
    for read, written in zip(pages.read_slots(cache, slots), rows, strict=True):
        torch.testing.assert_close(read, written, rtol=0.07, atol=1e-2)


@pytest.mark.parametrize("name", LAYOUTS)
@settings(deadline=None)
@given(
    blocks=st.lists(st.integers(0, BLOCKS - 1), min_size=1, max_size=BLOCKS, unique=True),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_rows_of_a_request_are_those_of_its_blocks_in_order(name, blocks, cut):
    layout = LAYOUTS[name]
    cache = torch.zeros(layout.shape)
    pages = PageLayout(layer_of(layout), cache, BLOCKS, SIZE)
    length = len(blocks) * SIZE
    keys, values = torch.randn(2, length, HEADS, DIM, generator=torch.Generator().manual_seed(length))
    at = torch.tensor(blocks)
    layout.write(cache, (at[:, None] * SIZE + torch.arange(SIZE)).flatten(), keys, values)
    begin, end = sorted(round(part * length) for part in cut)
    read = pages.read(cache, at, begin, end)
    assert torch.equal(read[0], keys[begin:end]) and torch.equal(read[1], values[begin:end])
    assert torch.equal(pages.keys_of(cache, at).flatten(0, 1), keys)


@pytest.mark.parametrize("name", LAYOUTS)
@settings(deadline=None)
@given(
    blocks=st.lists(st.integers(0, BLOCKS - 1), min_size=1, max_size=BLOCKS, unique=True),
    picks=st.lists(st.integers(0, SIZE - 1), max_size=SIZE, unique=True),
)
def test_kernels_find_rows_where_they_are_if_these_are_evenly_spaced(name, blocks, picks):
    layout = LAYOUTS[name]
    cache = torch.zeros(layout.shape)
    pages = PageLayout(layer_of(layout), cache, BLOCKS, SIZE)
    at, rows = torch.tensor(blocks), torch.tensor(picks, dtype=torch.int64)
    slots = (at[:, None] * SIZE + torch.arange(SIZE)).flatten()
    keys, values = torch.randn(2, len(slots), HEADS, DIM, generator=torch.Generator().manual_seed(1))
    layout.write(cache, slots, keys, values)
    if layout.packs_keys or layout.order == (1, 2, 0):
        with pytest.raises(ValueError, match="not evenly spaced"):
            pages.in_place(cache)
        return
    found = pages.in_place(cache)
    at = torch.from_numpy(pages.places(slots[rows].numpy(), found.span))
    assert found.keys.stride() == found.values.stride()
    assert torch.equal(found.keys[0, at], keys[rows])
    assert torch.equal(found.values[0, at], values[rows])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("is_neox", [True, False], ids=["halves", "interleaved"])
@pytest.mark.parametrize("rotary", [DIM, DIM // 2], ids=["whole", "partial"])
def test_the_engines_operation_turns_keys_as_torch_does(dtype, is_neox, rotary):
    # the operation of a build for GPUs runs on a GPU alone
    device = "cuda" if torch.cuda.is_available() else "cpu"
    angles = torch.arange(300)[:, None] * 10000 ** (-torch.arange(rotary // 2) / (rotary // 2))
    cos_sin = torch.cat((angles.cos(), angles.sin()), -1).to(device)
    plain, engines = (kind(cos_sin, is_neox=is_neox) for kind in (KeyRotation, EngineRotation))
    distances = torch.tensor([0, 3, -250, 17, 299], device=device)
    # a view, as pages return it, which must not be written to
    keys = torch.randn(HEADS, 5, DIM, generator=torch.Generator().manual_seed(1))
    keys = keys.to(device, dtype).transpose(0, 1)
    before = keys.clone()
    turned = engines.turn(keys, engines.tables(distances))
    assert turned.dtype == dtype and torch.equal(keys, before)
    torch.testing.assert_close(turned, plain.turn(keys, plain.tables(distances)))


@settings(deadline=None)
@given(
    heads=st.integers(1, 3), rows=st.integers(1, 20), inner=st.integers(1, 40), columns=st.integers(1, 40),
    are_views=st.booleans(),
)  # fmt: skip
def test_products_are_those_of_torch(heads, rows, inner, columns, are_views):
    random = torch.Generator().manual_seed(rows * inner)
    if are_views:
        a = torch.randn(rows, heads, inner, generator=random).transpose(0, 1)
        b = torch.randn(columns, heads, inner, generator=random).permute(1, 2, 0)
    else:
        a, b = torch.randn(heads, rows, inner, generator=random), torch.randn(heads, inner, columns, generator=random)
    torch.testing.assert_close(multiply(a, b), a @ b, atol=1e-4, rtol=1e-4)


def test_without_onednn_products_are_torchs_own(monkeypatch):
    monkeypatch.setattr(evidence, "_linear", lambda: None)
    a, b = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
    assert torch.equal(multiply(a, b), a @ b)
