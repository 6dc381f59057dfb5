"""kv_fill against its specification: all layers, keys and values, in any direction, and nothing else changes."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, plain_turns
from comparison import assert_close, poisoned
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.kv_fill import RowsOfLayers, Turns, kv_fill, naive_kv_fill

ROTARIES = {
    "plain": (32, False),
    "interleaved": (32, True),
    "partial": (16, False),
    "odd number of pairs": (22, True),
}
FAR = 50


def host_memory(layers: int, rows: int, heads: int, dtype: torch.dtype, random: torch.Generator) -> torch.Tensor:
    host = torch.randn((layers, 2, rows, heads, 32), generator=random).to(dtype)
    return host.pin_memory() if DEVICE == "cuda" else host


def pages_of(layers: int, rows: int, heads: int, dtype: torch.dtype) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Each layer's pages are a tensor of their own; a row's values follow its keys, as in vLLM's FlashAttention."""
    return [poisoned((rows, heads, 64), dtype, DEVICE).split(32, -1) for _ in range(layers)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rotary", ROTARIES.values(), ids=ROTARIES.keys())
@given(
    seed=st.integers(0, 2**32 - 1), layers=st.integers(1, 3), heads=st.integers(1, 3), count=st.integers(0, 40),
    from_host=st.booleans(), programs=st.sampled_from([None, 1, 2, 5]),
)  # fmt: skip
def test_rows_of_all_layers_are_filled_as_specified_and_no_other(
    rotary, dtype, seed, layers, heads, count, from_host, programs
):
    random, rows = generator(seed), 45
    dim, interleaved = rotary
    turns = plain_turns(dim, FAR, DEVICE)
    slots, other = (torch.randperm(rows, generator=random)[:count] for _ in range(2))
    distances = torch.randint(1 - FAR, FAR, (count,), generator=random)
    distances[::3] = 0
    target = pages_of(layers, rows, heads, dtype)
    drawn = host_memory(layers, rows, heads, dtype, random)
    source = [tuple(one) for one in drawn]
    if not from_host:
        source = pages_of(layers, rows, heads, dtype)
        for pair, given_ in zip(source, drawn, strict=True):
            for half, numbers in zip(pair, given_, strict=True):
                # what is not to be read stays poison
                half[slots] = numbers[slots].to(DEVICE)
    expected = naive_kv_fill(
        [tuple(one) for one in drawn], slots, [tuple(half.cpu() for half in one) for one in target], other, distances,
        Turns(turns.cos.cpu(), turns.sin.cpu()), interleaved=interleaved,
    )  # fmt: skip
    where = torch.device(DEVICE)
    kv_fill(
        RowsOfLayers.of(source, where), indices(slots), RowsOfLayers.of(target, where), indices(other),
        indices(distances), turns, interleaved=interleaved, programs=programs,
    )  # fmt: skip
    for (keys, values), (wanted_keys, wanted_values), given_ in zip(target, expected, drawn, strict=True):
        untouched = torch.ones(rows, dtype=torch.bool)
        untouched[other] = False
        assert keys.cpu()[untouched].isnan().all() and values.cpu()[untouched].isnan().all()
        assert_close("keys", keys.cpu()[other], wanted_keys[other])
        assert torch.equal(values.cpu()[other].double(), wanted_values[other])
        # a row that stays at its position is what it was, bit for bit
        assert torch.equal(keys.cpu()[other][::3], given_[0][slots][::3])


def test_rows_that_are_laid_out_differently_or_not_aligned_are_refused():
    where = torch.device(DEVICE)
    with pytest.raises(ValueError, match="not laid out alike"):
        RowsOfLayers.of([(torch.zeros(4, 2, 32), torch.zeros(4, 2, 32)[:3])], where)
    with pytest.raises(ValueError, match="no whole pieces of 16 bytes"):
        RowsOfLayers.of([(torch.zeros(4, 2, 34), torch.zeros(4, 2, 34))], where)
    with pytest.raises(ValueError, match="do not begin at a multiple of 16 bytes"):
        RowsOfLayers.of([(torch.zeros(260)[1:257].view(4, 2, 32), torch.zeros(260)[1:257].view(4, 2, 32))], where)


def test_what_does_not_match_is_refused_by_name():
    where, none = torch.device(DEVICE), indices([])
    turns = plain_turns(32, 4, DEVICE)
    of = lambda *shape: RowsOfLayers.of([(torch.zeros(shape), torch.zeros(shape))], where)  # noqa: E731
    with pytest.raises(ValueError, match="the target's rows are"):
        kv_fill(of(4, 2, 32), none, of(4, 3, 32), none, none, turns, interleaved=False)
    with pytest.raises(ValueError, match="distances has shape"):
        kv_fill(of(4, 2, 32), none, of(4, 2, 32), none, indices([1]), turns, interleaved=False)
    with pytest.raises(ValueError, match="turns 32 dimensions, a head has 16"):
        kv_fill(of(4, 2, 16), none, of(4, 2, 16), none, none, turns, interleaved=False)
