"""The kernel turns keys as torch does."""

import pytest
import torch
from cases import DEVICE, DTYPES, generator
from comparison import assert_close

from reprise_reuse.kernel_rotation import KernelRotation
from reprise_reuse.rotation import KeyRotation

SIZE = 32


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_neox", [True, False], ids=["halves", "interleaved"])
@pytest.mark.parametrize("rotary", [SIZE, SIZE // 2], ids=["whole", "partial"])
def test_keys_are_turned_as_by_torch_and_what_was_given_stays(dtype, is_neox, rotary):
    angles = torch.arange(300)[:, None] * 10000 ** (-torch.arange(rotary // 2) / (rotary // 2))
    cos_sin = torch.cat((angles.cos(), angles.sin()), -1).to(DEVICE)
    kernel, plain = (kind(cos_sin, is_neox=is_neox) for kind in (KernelRotation, KeyRotation))
    distances = torch.tensor([0, 3, -250, 17, 299], device=DEVICE)
    # a view, as pages return it
    keys = torch.randn(2, 5, SIZE, generator=generator(1)).to(DEVICE, dtype).transpose(0, 1)
    before = keys.clone()
    turned = kernel.turn(keys, kernel.tables(distances))
    assert turned.dtype == dtype and torch.equal(keys, before)
    expected = plain.turn(keys.double(), plain.tables(distances))
    assert_close("turned", turned, expected.double(), dtype)
