"""The rotary embeddings' frequencies and angles."""

import math

import pytest
import torch

from lab_kernels.rope_shift.rotary import llama3_rotary, plain_rotary, yarn_rotary


def test_llama_3_scaling_keeps_fast_pairs_and_slows_the_slow_ones_by_its_factor():
    plain, scaled = plain_rotary(128, 500_000.0).frequencies, llama3_rotary(128).frequencies
    for before, after in zip(plain, scaled, strict=True):
        wavelength = 2 * math.pi / before
        if wavelength < 8192 / 4:
            assert after == before
        elif wavelength > 8192:
            assert after == pytest.approx(before / 8)
        else:
            assert before / 8 <= after <= before


def test_yarn_scaling_keeps_fast_pairs_slows_slow_ones_and_falls_all_the_way():
    plain, scaled = plain_rotary(64).frequencies, yarn_rotary(64, factor=4.0).frequencies
    assert scaled[0] == plain[0]
    assert scaled[-1] == pytest.approx(plain[-1] / 4)
    assert list(scaled) == sorted(scaled, reverse=True)


def test_angles_far_away_are_exact_to_float32():
    cos, sin = plain_rotary(64).turns(torch.tensor([131_071]))
    for i, frequency in enumerate(plain_rotary(64).frequencies):
        assert float(cos[0, i]) == pytest.approx(math.cos(131_071 * frequency), abs=2e-7)
        assert float(sin[0, i]) == pytest.approx(math.sin(131_071 * frequency), abs=2e-7)
