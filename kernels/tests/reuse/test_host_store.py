"""Rows come back as they went in, turned as the model turns them, and averaged to the mean of what they would be."""

from contextlib import nullcontext

import pytest
import torch
from cases import plain_turns
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.kv_fill import naive_kv_fill
from reprise_reuse.device import SideStream
from reprise_reuse.host_rows import CodedRows, PlainRows
from reprise_reuse.host_store import BITS, HostStore, Rows, RowShape, slots_in
from reprise_reuse.rotation import KeyRotation

HEADS, DIM, LAYERS = 2, 64, 3


def cos_sin(positions: int, dim: int = DIM, factor: float = 1.0) -> torch.Tensor:
    turns = plain_turns(dim, positions)
    return torch.cat((turns.cos, turns.sin), -1) * factor


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("factor", [1.0, 1.3])
@given(distances=st.lists(st.integers(-200, 200), min_size=1, max_size=9), seed=st.integers(0, 99))
def test_keys_turn_as_the_kernels_specification_says(factor, distances, seed):
    keys = normal(len(distances), HEADS, DIM, seed=seed)
    rotation = KeyRotation(cos_sin(300, factor=factor), is_neox=True)
    turned = rotation.turn(keys, rotation.tables(torch.tensor(distances)))
    each, still = torch.arange(len(distances)), torch.zeros_like(keys)
    ((expected, _),) = naive_kv_fill(
        [(keys, still)], each, [(still, still)], each, torch.tensor(distances), plain_turns(DIM, 300), interleaved=False
    )
    torch.testing.assert_close(turned, expected.float(), atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("is_neox", [True, False], ids=["halves", "interleaved"])
def test_a_turn_and_its_opposite_leave_keys_as_they_were_and_dimensions_beyond_the_embedding_alone(is_neox):
    rotation = KeyRotation(cos_sin(300, dim=8), is_neox=is_neox)
    keys, by = normal(5, HEADS, DIM), torch.tensor([0, 1, -7, 250, -299])
    turned = rotation.turn(keys, rotation.tables(by))
    assert torch.equal(turned[..., 8:], keys[..., 8:])
    assert torch.equal(turned[0], keys[0])
    assert not torch.allclose(turned[1:, :, :8], keys[1:, :, :8])
    torch.testing.assert_close(rotation.turn(turned, rotation.tables(-by)), keys, atol=1e-5, rtol=1e-5)


def make_store(slots: int = 20, dtype: torch.dtype = torch.float32, host_format: str = "model") -> HostStore:
    return HostStore(slots, RowShape(LAYERS, HEADS, DIM, dtype, host_format), KeyRotation(cos_sin(300), is_neox=True))


@pytest.mark.gpu
def test_a_gpu_reads_and_writes_pinned_rows_in_the_order_of_the_calls():
    rows = PlainRows((LAYERS, 4000, HEADS, DIM), torch.bfloat16, pinned=True)
    assert rows._is_reached
    slots, place = torch.arange(3000), torch.device("cuda")
    side = SideStream(place)
    for turn in range(10):
        new = torch.full((3000, HEADS, DIM), float(turn), device=place, dtype=torch.bfloat16)
        # keeps the GPU busy, so that nothing is done yet when a call returns
        busy = torch.randn(4096, 4096, device=place)
        for _ in range(5):
            busy = busy @ busy
        # whoever reads and writes on which stream
        with side.behind(side.mark()) if turn % 3 == 1 else nullcontext():
            rows.put(1, slots, new)
        with side.behind(side.mark()) if turn % 3 == 2 else nullcontext():
            read = rows.get(1, slots.flip(0), place)
        side.wait(side.launched)
        if turn % 2:
            rows.load_state(slots, {"rows": torch.full((LAYERS, 3000, HEADS, DIM), -1.0, dtype=torch.bfloat16)})
            assert torch.all(rows.get(1, slots, place) == -1)
        else:
            assert torch.all(rows.state(slots)["rows"][1] == turn)
            assert torch.all(rows.get(1, slots, torch.device("cpu")) == turn)
        assert torch.all(read == turn)


def all_layers(store: HostStore, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns keys and values [layers, n, heads, head size]."""
    keys, values = zip(*(store.get(layer, slots) for layer in range(LAYERS)), strict=True)
    return torch.stack(keys), torch.stack(values)


def draw_rows(count: int, seed: int) -> Rows:
    return [
        tuple(normal(count, HEADS, DIM, seed=9 * seed + 2 * layer + i) for i in range(2)) for layer in range(LAYERS)
    ]


def fill(store: HostStore, slots: torch.Tensor, position: int, seed: int, owner: int = 1) -> Rows:
    positions = torch.arange(position, position + len(slots), dtype=torch.int32)
    store.begin(slots, owner, torch.arange(len(slots), dtype=torch.int32), positions)
    rows = draw_rows(len(slots), seed)
    for layer, (keys, values) in enumerate(rows):
        store.put(layer, slots, keys, values)
    return rows


def test_what_was_put_comes_back_bit_by_bit_and_only_to_its_owner():
    store = make_store()
    slots = torch.tensor([3, 1, 4])
    rows = fill(store, slots, 10, 1)
    for layer, expected in enumerate(rows):
        assert all(map(torch.equal, store.get(layer, slots), expected))
    held = torch.arange(3, dtype=torch.int32)
    assert store.holds(slots, 1, held)
    assert not store.holds(slots, 2, held)
    assert not store.holds(slots, 1, held + 1)
    store.forget(slots, owner=2)
    assert store.holds(slots, 1, held)
    store.forget(slots[:1])
    assert not store.holds(slots, 1, held)


@given(
    contexts=st.integers(2, 5),
    position=st.integers(0, 100),
    moves=st.lists(st.integers(0, 150), min_size=5, max_size=5),
)
def test_the_mean_over_contexts_and_its_spread_are_those_of_all_rows_at_one_position(contexts, position, moves):
    store = make_store()
    slots = torch.arange(2, 6)
    turned, values = [], []
    rows = fill(store, slots, position, 1)
    rotation = KeyRotation(cos_sin(300), is_neox=True)
    for i in range(contexts):
        if i:
            at = torch.arange(4) + moves[i]
            rows = draw_rows(4, i + 1)
            store.average(slots, at, rows)
        away = 0 if i == 0 else position - moves[i]
        tables = rotation.tables(torch.full((4,), away))
        turned.append(torch.stack([rotation.turn(keys, tables) for keys, _ in rows]))
        values.append(torch.stack([v for _, v in rows]))
    values = torch.stack(values)
    mean_keys, mean_values = all_layers(store, slots)
    torch.testing.assert_close(mean_keys, torch.stack(turned).mean(0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(mean_values, values.mean(0), atol=1e-5, rtol=1e-5)
    expected = values.var(0, unbiased=False).sum((0, 2, 3)).sqrt()
    torch.testing.assert_close(torch.from_numpy(store.spread(slots)), expected, atol=1e-4, rtol=1e-4)


@given(contexts=st.integers(1, 5))
def test_a_mean_that_counts_as_one_context_has_half_of_the_next_mean_and_of_its_spread(contexts):
    store = make_store()
    slots = torch.arange(2, 6)
    rows = [fill(store, slots, 0, 1), *(draw_rows(4, 1 + number) for number in range(1, contexts))]
    for one in rows[1:]:
        store.average(slots, torch.arange(4), one)
    last = draw_rows(4, 99)
    store.count_as_one(slots)
    store.average(slots, torch.arange(4), last)
    # as if the last one had come as often as all others
    all_rows = [*rows, *[last] * contexts]
    for part, mean in enumerate(all_layers(store, slots)):
        expected = torch.stack([torch.stack([layer[part] for layer in one]) for one in all_rows]).mean(0)
        torch.testing.assert_close(mean, expected, atol=1e-4, rtol=1e-4)
    values = torch.stack([torch.stack([layer[1] for layer in one]) for one in all_rows])
    expected = values.var(0, unbiased=False).sum((0, 2, 3)).sqrt()
    torch.testing.assert_close(torch.from_numpy(store.spread(slots)), expected, atol=1e-4, rtol=1e-4)


@given(
    magnitudes=st.lists(st.sampled_from([0.0, 1e-42, 1e-6, 1.0, 300.0, 1e30]), min_size=3, max_size=3),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    host_format=st.sampled_from(["int8", "k8v4"]),
    seed=st.integers(0, 99),
)
def test_few_bits_are_off_by_half_a_step_of_their_group_at_most(magnitudes, dtype, host_format, seed):
    store = make_store(dtype=dtype, host_format=host_format)
    slots = torch.tensor([3, 1, 4])
    rows = [normal(3, HEADS, DIM, seed=seed + i) * torch.tensor(magnitudes)[:, None, None] for i in range(2)]
    rows = [one.to(dtype) for one in rows]
    store.put(1, slots, *rows)
    for expected, held, bits in zip(rows, store.get(1, slots), BITS[host_format], strict=True):
        assert held.dtype == dtype and held.isfinite().all()
        groups = expected.float().unflatten(-1, (-1, 32 if bits == 4 else DIM))
        off = (held.float() - expected.float()).unflatten(-1, (groups.shape[-2], -1)).abs()
        # plus half a step of the data type that they come back in
        most = groups.abs().amax(-1, keepdim=True) * (CodedRows.error_of(bits) + torch.finfo(dtype).eps / 2) + 1e-37
        assert (off <= most).all()


@pytest.mark.parametrize("host_format", BITS)
def test_a_state_moves_to_other_slots_with_its_mean_and_spread(host_format):
    store = make_store(dtype=torch.bfloat16, host_format=host_format)
    slots = torch.arange(4)
    fill(store, slots, 5, 1)
    store.average(slots, torch.arange(4), [(normal(4, HEADS, DIM), normal(4, HEADS, DIM))] * LAYERS)
    state = {name: tensor.clone() for name, tensor in store.state(slots).items()}
    elsewhere = torch.tensor([9, 8, 17, 6])
    store.load_state(elsewhere, 7, state)
    assert all(torch.equal(tensor, state[name]) for name, tensor in store.state(elsewhere).items())
    assert store.holds(elsewhere, 7, torch.arange(4, dtype=torch.int32))
    assert (store.spread(elsewhere) == store.spread(slots)).all()


@pytest.mark.parametrize("head_size", [64, 80, 96, 128])
@pytest.mark.parametrize("host_format", BITS)
def test_a_budget_of_bytes_is_what_is_taken(host_format, head_size):
    shape = RowShape(3, 2, head_size, torch.bfloat16, host_format)
    store = HostStore(10, shape, KeyRotation(cos_sin(300, head_size), is_neox=True))
    state = store.state(torch.arange(10))
    # in addition to keys and values: token, owner, position, contexts, squares
    rows = sum(t.nbytes for name, t in state.items() if name.startswith(("keys", "values")))
    assert shape.bytes * 10 == rows + 20 * 10


def test_a_budget_of_bytes_holds_what_it_says():
    shape = RowShape(30, 3, 64, torch.float32)
    assert shape.bytes == 2 * 30 * 3 * 64 * 4 + 20
    assert slots_in(shape.bytes * 10 + 1, shape) == 10
    assert RowShape(30, 3, 64, torch.float32, "int8").bytes == 2 * 30 * 3 * (64 + 2) + 20
    assert RowShape(30, 3, 64, torch.float32, "k8v4").bytes == 30 * 3 * (64 + 2 + 32 + 4) + 20
