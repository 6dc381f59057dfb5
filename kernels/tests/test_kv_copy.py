"""kv_copy is exact, because it copies bytes."""

import pytest
import torch
from cases import DEVICE, generator, indices
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.kv_copy import rows_to_device, rows_to_host

# copying needs no arithmetic, so bfloat16 is right under the interpreter too
dtypes = st.sampled_from([torch.float32, torch.float16, torch.bfloat16])


def host_memory(shape: tuple[int, ...], dtype: torch.dtype, random: torch.Generator) -> torch.Tensor:
    host = torch.randn(shape, generator=random).to(dtype)
    return host.pin_memory() if DEVICE == "cuda" else host


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
