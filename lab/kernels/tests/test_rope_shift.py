"""rope_shift against its specification, and against its meaning."""

from dataclasses import dataclass

import pytest
import torch
from cases import DEVICE, DTYPES, generator, indices, normal
from comparison import assert_close, poisoned
from hypothesis import given
from hypothesis import strategies as st

from lab_kernels.rope_shift import naive_rope_shift, rope_shift
from lab_kernels.rope_shift.rotary import Rotary, llama3_rotary, plain_rotary, yarn_rotary

ROTARIES = {
    "plain": plain_rotary(32),
    "interleaved": plain_rotary(32, interleaved=True),
    "partial": plain_rotary(16),
    "partial interleaved": plain_rotary(24, interleaved=True),
    "odd number of pairs": plain_rotary(22),
    "llama 3": llama3_rotary(32),
    "yarn": yarn_rotary(32),
}


@dataclass
class Case:
    keys: torch.Tensor
    slots: torch.Tensor
    move: torch.Tensor
    distances: torch.Tensor


def draw_case(seed: int, tokens: int, page_size: int, heads: int, dtype: torch.dtype, far: int = 1000) -> Case:
    random = generator(seed)
    pages = tokens // page_size + 2
    keys = normal((pages, page_size, heads, 32), dtype, random)
    slots = torch.randperm(pages * page_size, generator=random)[:tokens]
    move = torch.randint(0, 3, (tokens,), generator=random)
    distances = torch.randint(-far, far, (3,), generator=random).to(DEVICE)
    return Case(keys, indices(slots), indices(move), distances)


shapes = {
    "seed": st.integers(0, 2**32 - 1),
    "tokens": st.integers(0, 70),
    "page_size": st.sampled_from([1, 16, 32, 64]),
    "heads": st.integers(1, 3),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rotary", ROTARIES.values(), ids=ROTARIES.keys())
@given(**shapes)
def test_keys_move_in_place_as_specified_and_no_other_slot_changes(rotary, dtype, seed, tokens, page_size, heads):
    case = draw_case(seed, tokens, page_size, heads, dtype)
    before = case.keys.clone()
    cpu = before.cpu()
    expected = naive_rope_shift(
        cpu, case.slots.cpu(), case.move.cpu(), case.distances.cpu(), rotary, cpu, case.slots.cpu()
    )
    moved = rope_shift(case.keys, case.slots, case.move, case.distances, rotary)
    assert moved is case.keys
    assert_close("keys", moved, expected)
    untouched = torch.ones(before.shape[0] * page_size, dtype=torch.bool, device=DEVICE)
    untouched[case.slots.long()] = False
    assert torch.equal(moved.flatten(0, 1)[untouched], before.flatten(0, 1)[untouched])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rotary", ROTARIES.values(), ids=ROTARIES.keys())
@given(**shapes)
def test_keys_move_into_another_cache_in_one_pass_and_poisoned_slots_stay_unread(
    rotary, dtype, seed, tokens, page_size, heads
):
    case = draw_case(seed, tokens, page_size, heads, dtype)
    source = poisoned(tuple(case.keys.shape), dtype, DEVICE)
    source.flatten(0, 1)[case.slots.long()] = case.keys.flatten(0, 1)[case.slots.long()]
    # the target has a different page size and is half of a larger tensor, as if keys and values shared one
    places = tokens + 3
    target = poisoned((2, places, 1, heads, 32), dtype, DEVICE)[1]
    target_slots = indices(torch.randperm(places, generator=generator(seed + 1))[:tokens])
    if tokens > 1:
        case.slots[0], target_slots[1] = -1, -1
    expected = naive_rope_shift(
        source.cpu(), case.slots.cpu(), case.move.cpu(), case.distances.cpu(), rotary, target.cpu(), target_slots.cpu()
    )
    rope_shift(source, case.slots, case.move, case.distances, rotary, target, target_slots)
    assert_close("target", target, expected)


@given(seed=shapes["seed"], a=st.integers(-5000, 5000), b=st.integers(-5000, 5000))
def test_moving_by_a_and_then_by_b_is_moving_by_a_plus_b(seed, a, b):
    case = draw_case(seed, 20, 16, 2, torch.float32)
    twice, once = case.keys.clone(), case.keys.clone()
    for keys, distance in ((twice, a), (twice, b), (once, a + b)):
        rope_shift(keys, case.slots, case.move, torch.full((3,), distance, device=DEVICE), ROTARIES["llama 3"])
    assert_close("keys", twice, once.double())


@given(seed=shapes["seed"], position=st.integers(0, 100_000), query=st.integers(0, 100_000))
def test_a_moved_key_scores_with_a_query_as_if_it_had_been_computed_there(seed, position, query):
    random = generator(seed)
    rotary = Rotary(plain_rotary(32).frequencies)
    raw_key, raw_query = normal((1, 1, 1, 32), torch.float32, random), normal((1, 1, 1, 32), torch.float32, random)

    def at(raw: torch.Tensor, where: int) -> torch.Tensor:
        zero = indices([0])
        return rope_shift(raw.clone(), zero, zero, torch.tensor([where], device=DEVICE), rotary)

    moved = rope_shift(at(raw_key, 7), indices([0]), indices([0]), torch.tensor([position - 7], device=DEVICE), rotary)
    relative = float((at(raw_query, query) * moved).sum())
    # only the distance between the two counts
    assert relative == pytest.approx(float((at(raw_query, query - position) * raw_key).sum()), abs=1e-4)


@given(**shapes)
def test_turns_that_were_made_before_are_the_same_as_their_distances(seed, tokens, page_size, heads):
    case, rotary = draw_case(seed, tokens, page_size, heads, torch.float32), ROTARIES["llama 3"]
    by_distances, by_turns = case.keys.clone(), case.keys.clone()
    rope_shift(by_distances, case.slots, case.move, case.distances, rotary)
    rope_shift(by_turns, case.slots, case.move, rotary.turns(case.distances), rotary)
    assert torch.equal(by_turns, by_distances)


def test_a_move_by_nothing_changes_no_bit():
    case = draw_case(1, 40, 16, 2, torch.float16)
    before = case.keys.clone()
    rope_shift(case.keys, case.slots, case.move, torch.zeros(3, dtype=torch.int64, device=DEVICE), ROTARIES["plain"])
    assert torch.equal(case.keys, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda case: {"keys": case.keys[..., ::2]}, "stride 2 in its last dimension"),
        (lambda case: {"keys": case.keys[::2]}, "a page must begin where"),
        (lambda case: {"keys": case.keys.double()}, "keys is torch.float64"),
        (lambda case: {"keys": case.keys[0]}, "keys has shape"),
        (lambda case: {"slots": case.slots.long()}, "slots is torch.int64"),
        (lambda case: {"move": case.move[1:]}, "move has shape"),
        (lambda case: {"distances": case.distances.float()}, "distances is torch.float32"),
        (lambda case: {"distances": plain_rotary(16).turns(case.distances)}, "the turns' cos has shape"),
        (lambda case: {"rotary": plain_rotary(64)}, "turns 64 dimensions, a head has 32"),
        (lambda case: {"target": case.keys}, "given both, or neither"),
        (lambda case: {"target": case.keys.half(), "target_slots": case.slots}, "they must agree"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(change, message):
    case = draw_case(1, 40, 16, 2, torch.float32)
    given_arguments = {
        "keys": case.keys, "slots": case.slots, "move": case.move, "distances": case.distances,
        "rotary": ROTARIES["plain"],
    }  # fmt: skip
    with pytest.raises(ValueError, match=message) as refused:
        rope_shift(**(given_arguments | change(case)))
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(DEVICE == "cuda", reason="bfloat16 is fine on a GPU")
def test_bfloat16_is_refused_under_the_interpreter_which_computes_it_wrongly():
    case = draw_case(1, 40, 16, 2, torch.float32)
    with pytest.raises(ValueError, match="silently wrong in bfloat16"):
        rope_shift(case.keys.bfloat16(), case.slots, case.move, case.distances, ROTARIES["plain"])
