"""The operations together, as an engine would call them for one layer of a request of cached chunks."""

from dataclasses import dataclass

import pytest
import torch
from cases import DEVICE, generator, indices, normal
from comparison import assert_close, poisoned
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from lab_kernels.overlay_slots import overlay_slots
from lab_kernels.rope_shift import rope_shift
from lab_kernels.rope_shift.rotary import llama3_rotary
from lab_kernels.select_tokens import select_tokens
from reprise_kernels.question_scores import question_scores
from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

PAGE, CHUNKS, QUESTION, HEADS, GROUP, DIM = 16, 3, 4, 2, 2, 32
CONTEXT = PAGE * CHUNKS
TOTAL = CONTEXT + QUESTION
ROTARY = llama3_rotary(DIM)
OWN = 6 * PAGE  # the first slot of the request's own pages, after six shared ones


@dataclass
class Layer:
    """A request's raw queries, keys and values, and a cache of its chunks, each computed as if it came first."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    cache_k: torch.Tensor
    cache_v: torch.Tensor
    slots: torch.Tensor


def rotated(raw: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Returns rows [n, heads, DIM] as they are at these positions."""
    every = indices(torch.arange(len(raw)))
    return rope_shift(raw.clone()[None], every, every, positions.to(DEVICE), ROTARY)[0]


def draw_layer(seed: int) -> Layer:
    random = generator(seed)
    q, k, v = (normal((TOTAL, heads, DIM), torch.float32, random) for heads in (HEADS * GROUP, HEADS, HEADS))
    cache_k, cache_v = (poisoned((10, PAGE, HEADS, DIM), torch.float32, DEVICE) for _ in range(2))
    pages = torch.randperm(6, generator=random)[:CHUNKS]
    slots = (pages[:, None] * PAGE + torch.arange(PAGE)).flatten()
    # a chunk does not see those before it, so its keys and values differ from the true ones
    stale = k[:CONTEXT] + 0.3 * normal((CONTEXT, HEADS, DIM), torch.float32, random)
    cache_k.flatten(0, 1)[slots.to(DEVICE)] = rotated(stale, torch.arange(CONTEXT) % PAGE)
    cache_v.flatten(0, 1)[slots.to(DEVICE)] = v[:CONTEXT] + 0.3 * normal((CONTEXT, HEADS, DIM), torch.float32, random)
    return Layer(q, k, v, cache_k, cache_v, torch.cat([slots, OWN + 3 * PAGE + torch.arange(QUESTION)]))


def write(layer: Layer, positions: torch.Tensor, slots: torch.Tensor, stands_at: torch.Tensor) -> None:
    """Writes the true keys and values of tokens into slots."""
    layer.cache_k.flatten(0, 1)[slots] = rotated(layer.k[positions], stands_at)
    layer.cache_v.flatten(0, 1)[slots] = layer.v[positions]


def reuse(layer: Layer, ratio: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the output, the computed positions, and the slot table."""
    tokens = torch.arange(TOTAL, device=DEVICE)
    moved = torch.arange(0, CONTEXT, PAGE, device=DEVICE)
    rope_shift(layer.cache_k, indices(layer.slots[:CONTEXT]), indices(torch.arange(CONTEXT) // PAGE), moved, ROTARY)
    question = tokens[CONTEXT:]
    write(layer, question, layer.slots[CONTEXT:].to(DEVICE), question)
    caches, table, length = (layer.cache_k, layer.cache_v), indices(layer.slots[None]), indices([TOTAL])
    q = rotated(layer.q, torch.arange(TOTAL))

    some = (q[question], indices(question), indices([0, QUESTION]))
    _, lse = sparse_prefill_attention(*some, *caches, table, length)
    scores = question_scores(*some, lse, layer.cache_k, table, length)
    positions, count = select_tokens(scores, indices([CONTEXT]), ratio)
    own = indices(OWN + torch.arange(positions.shape[1])[None])
    chosen = positions[0, : int(count[0])].long()
    write(layer, chosen, own[0, : len(chosen)].long(), chosen)

    computed = torch.cat([chosen, question])
    overlaid = overlay_slots(table, positions, own)
    out, _ = sparse_prefill_attention(
        q[computed], indices(computed), indices([0, len(computed)]), *caches, overlaid, length
    )
    return out, computed, overlaid


@given(seed=st.integers(0, 2**32 - 1))
def test_when_all_is_recomputed_the_answer_is_that_of_dense_attention_without_a_cache(seed):
    layer = draw_layer(seed)
    out, computed, _ = reuse(layer, 1.0)
    assert computed.tolist() == list(range(TOTAL))
    q, k = (rotated(raw, torch.arange(TOTAL)).double().transpose(0, 1) for raw in (layer.q, layer.k))
    k, v = (one.repeat_interleave(GROUP, 0) for one in (k, layer.v.double().transpose(0, 1)))
    assert_close("out", out, scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1))


def test_a_slot_table_is_overlaid_at_just_the_given_positions_and_stays_as_it_was_itself():
    table = indices([[10, 11, 12], [20, 21, 22]])
    overlaid = overlay_slots(table, indices([[2, -1], [0, 1]]), indices([[90, 91], [92, 93]]))
    assert overlaid.tolist() == [[10, 11, 90], [92, 93, 22]]
    assert table.tolist() == [[10, 11, 12], [20, 21, 22]]
    with pytest.raises(ValueError, match="own_slots has shape"):
        overlay_slots(table, indices([[2], [0]]), indices([[90, 91], [92, 93]]))
