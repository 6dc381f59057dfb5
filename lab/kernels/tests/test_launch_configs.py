"""The table of launch configurations is complete, and every configuration in the spaces computes correct results."""

from itertools import chain

import pytest
import torch
from cases import DEVICE, generator, indices, normal
from comparison import assert_close

from lab_kernels.aot import OPERATIONS
from lab_kernels.bench.__main__ import ALL_CASES
from lab_kernels.bench.case import Shape
from lab_kernels.launch.launch_spaces import MOST, RELEASED, SPACES
from lab_kernels.launch.launch_table import describe, read_table, trying
from lab_kernels.sparse_decode_attention import naive_sparse_decode_attention, sparse_decode_attention
from lab_kernels.tune import CASES
from reprise_kernels.launch.launch_configs import TABLE, launch_config

SMALL = Shape(
    q_heads=4, kv_heads=2, head_dim=16, context=160, question=5, layers=1, vocabulary=300, ratios=(0.25,), batches=(2,),
    dtype=torch.float16, device=DEVICE,
)  # fmt: skip
IN_CUDA = {"select_tokens", "hierarchical_select"}


def test_the_committed_table_has_a_configuration_of_the_space_of_every_released_operation():
    table = read_table(TABLE)
    assert table.as_json() == TABLE.read_text()
    assert set(table.configs) == RELEASED
    for operation, config in table.configs.items():
        assert config in SPACES[operation], operation


def test_spaces_are_small_and_hold_no_configuration_twice():
    for operation, space in SPACES.items():
        assert 1 < len(space) <= MOST, operation
        assert len({describe(config) for config in space}) == len(space), operation
        # operations with a CUDA kernel have configurations of both forms
        forms = {frozenset(config) for config in space}
        assert len(forms) == (2 if operation in IN_CUDA else 1), operation


def test_every_compiled_operation_has_a_space_and_is_measured_to_be_tuned():
    # weighted_deviation launches the kernel of kv_deviation
    assert set(OPERATIONS) - {"weighted_deviation"} == set(SPACES) == set(CASES)
    assert set(CASES.values()) <= set(ALL_CASES)


def test_what_is_tried_is_launched_with_until_the_trial_ends_even_by_an_error():
    usual = launch_config("kv_fill", {"rows": 1})
    first, second = SPACES["kv_fill"][1:3]
    with trying("kv_fill", first):
        with pytest.raises(RuntimeError, match="stop"), trying("kv_fill", second):
            assert launch_config("kv_fill", {}) == second
            assert launch_config("kv_copy", usual) != second
            raise RuntimeError("stop")
        assert launch_config("kv_fill", {}) == first
    assert launch_config("kv_fill", {"rows": 1}) == usual


def trials() -> list:
    """Every configuration in every space."""
    every = chain.from_iterable(((name, config) for config in space) for name, space in SPACES.items())
    return [pytest.param(name, config, id=f"{name}: {describe(config)}") for name, config in every]


@pytest.mark.parametrize(("operation", "config"), trials())
def test_every_configuration_that_may_be_tried_computes_what_is_specified(operation, config):
    with trying(operation, config):
        cases = list(CASES[operation](SMALL))
        for case in cases:
            case.check()
    assert cases


@pytest.mark.parametrize("config", SPACES["sparse_decode_attention"], ids=describe)
def test_a_share_of_several_tiles_of_keys_is_read_in_whole(config):
    # in the case above, every tile of keys is a split of its own
    random = generator(1)
    k, v = (normal((40, 16, 2, 16), torch.float16, random) for _ in range(2))
    q, table = normal((2, 8, 16), torch.float16, random), indices(torch.randperm(40, generator=random).view(2, 20))
    where = {"kv_len": indices([301, 17]), "page_table": table}
    with trying("sparse_decode_attention", config):
        out, _ = sparse_decode_attention(q, k, v, **where, splits=1)
    cpu = {name: tensor.cpu() for name, tensor in where.items()}
    assert_close("out", out, naive_sparse_decode_attention(q.cpu(), k.cpu(), v.cpu(), **cpu)[0])
