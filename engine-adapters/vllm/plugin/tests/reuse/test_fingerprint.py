"""Two models have one fingerprint only if all their numbers and settings are the same."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise_reuse.disk import model_fingerprint as fingerprint
from reprise_reuse.disk.model_fingerprint import fingerprint_of

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float8_e4m3fn]
SETTINGS = {"rms_norm_eps": 1e-5, "rope_parameters": {"rope_theta": 10000.0}, "dtype": torch.bfloat16}


def model_of(*weights: torch.Tensor) -> torch.nn.Module:
    model = torch.nn.Module()
    for number, weight in enumerate(weights):
        model.register_parameter(f"w{number}", torch.nn.Parameter(weight, requires_grad=False))
    return model


@settings(deadline=None, max_examples=200)
@given(
    rows=st.integers(1, 9), columns=st.integers(1, 9), dtype=st.sampled_from(DTYPES), at=st.integers(0),
    bit=st.integers(0), is_turned=st.booleans(), part=st.sampled_from([1, 24, 1 << 20]),
)  # fmt: skip
def test_whichever_bit_of_a_weight_differs_the_fingerprint_does(rows, columns, dtype, at, bit, is_turned, part):
    random = torch.Generator().manual_seed(rows * columns)
    weight = (8 * torch.randn(rows, columns, generator=random)).to(dtype)
    other = weight.clone()
    bits = other.view(torch.uint8).flatten()
    bits[at % len(bits)] ^= 1 << bit % 8
    if is_turned:
        weight, other = weight.T, other.T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "_BYTES", part)
        one = fingerprint_of(model_of(weight), SETTINGS)
        assert fingerprint_of(model_of(weight.clone(memory_format=torch.preserve_format)), SETTINGS) == one
        assert fingerprint_of(model_of(other), SETTINGS) != one


@given(st.permutations(range(6)))
def test_weights_in_another_order_are_another_model(order):
    weights = torch.arange(6.0).view(6, 1).expand(6, 4).contiguous()
    turned = weights[order]
    same = order == sorted(order)
    assert (fingerprint_of(model_of(weights), SETTINGS) == fingerprint_of(model_of(turned), SETTINGS)) is same


@pytest.mark.parametrize(
    ("settings_", "facts", "is_same"),
    [
        (dict(reversed(SETTINGS.items())), (1,), True),
        (SETTINGS | {"_name_or_path": "/elsewhere", "transformers_version": "9"}, (1,), True),
        (SETTINGS | {"rms_norm_eps": 0.5}, (1,), False),
        (SETTINGS | {"rope_parameters": {"rope_theta": 1.0}}, (1,), False),
        (SETTINGS, (2,), False),
    ],
)
def test_settings_and_facts_count_but_not_where_the_model_lies(settings_, facts, is_same):
    model = model_of(torch.ones(3))
    assert (fingerprint_of(model, settings_, *facts) == fingerprint_of(model, SETTINGS, 1)) is is_same


def test_buffers_and_empty_and_scalar_weights_count():
    model, other = model_of(torch.empty(0), torch.tensor(1.0)), model_of(torch.empty(0), torch.tensor(2.0))
    assert fingerprint_of(model, {}) != fingerprint_of(other, {})
    buffered = model_of(torch.empty(0), torch.tensor(1.0))
    buffered.register_buffer("scale", torch.ones(1))
    assert fingerprint_of(buffered, {}) != fingerprint_of(model, {})
