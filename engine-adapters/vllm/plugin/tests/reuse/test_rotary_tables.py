"""Which tables of cosines and sines turn keys so that they can be moved."""

import pytest
import torch
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding import get_rope

from reprise_vllm.engine.model_parts import is_even

LONGEST = 65_536


def rope(**parameters: object) -> torch.Tensor:
    with set_current_vllm_config(VllmConfig()):
        one = get_rope(64, LONGEST, True, {"rope_type": "default", "rope_theta": 1e6, **parameters}, torch.float32)
    return one._compute_cos_sin_cache()


EVEN = {
    "default": {},
    "Llama 3": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "YaRN": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768},
    "linear": {"rope_type": "linear", "factor": 4.0},
    "NTK": {"rope_type": "ntk", "factor": 4.0},
    "M-RoPE": {"mrope_section": [8, 12, 12]},
}  # fmt: skip


@pytest.mark.parametrize("kind", EVEN)
def test_each_position_turns_by_the_same_angle(kind: str) -> None:
    assert is_even(rope(**EVEN[kind]))


def test_a_table_that_changes_on_the_way_is_not_even() -> None:
    table, other = rope(), rope(rope_theta=1.05e6)
    assert not is_even(torch.cat((table[: LONGEST // 4], other[LONGEST // 4 :])))


def test_a_table_that_begins_again_is_not_even() -> None:
    assert not is_even(rope()[: LONGEST // 4].repeat(4, 1))


def test_tables_for_several_scales_one_after_another_are_not_even() -> None:
    assert not is_even(rope(rope_type="linear", factor=(1.0, 4.0)))
