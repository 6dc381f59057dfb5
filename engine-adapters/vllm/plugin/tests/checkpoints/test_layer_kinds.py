"""For which engines borders are set, and what is said where they are not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from engine import Engine, tokens
from engine_config import BLOCK, full_attention, make_config
from listening import listening
from receiver import Receiver
from vllm.v1.core.single_type_kv_cache_manager import SingleTypeKVCacheManager
from vllm.v1.kv_cache_interface import SlidingWindowSpec

WINDOW = SlidingWindowSpec(block_size=BLOCK, num_kv_heads=1, head_size=64, dtype=torch.float32, sliding_window=130)


def test_a_model_with_full_attention_only_is_left_alone(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder), blocks=60)
    (manager,) = engine.scheduler.kv_cache_manager.coordinator.single_type_managers
    assert "cache_blocks" not in vars(manager)
    assert engine.scheduler.connector._borders.facts is None
    engine.add("r-1", tokens(0, 200))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    engine.close()
    assert all("checkpoints" not in body for _, body in receiver.posts)
    assert all("checkpoints" not in event for event in receiver.events)


def test_what_a_checkpoint_takes_is_counted_in_blocks_of_all_groups(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder), blocks=60, specs=[full_attention(), WINDOW, WINDOW])
    facts = engine.scheduler.connector._borders.facts
    engine.close()
    # 129 tokens before the next one are seen: five blocks in each of two groups
    assert facts == {"unit": BLOCK, "kinds": ["window"], "room_tokens": 320, "key": facts["key"]}


def without_boundaries(self: Any, request: Any, num_tokens: int, retention_interval: int | None = None) -> None:
    pass


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((SingleTypeKVCacheManager, "cache_blocks", without_boundaries), "no replay_boundaries of cache_blocks"),
        (("config", "speculative_config", SimpleNamespace()), "speculative decoding is not supported"),
        (("parallel", "decode_context_parallel_size", 2), "decode context parallelism is not supported"),
    ],
)
def test_where_borders_cannot_be_set_it_is_named_and_the_engine_goes_on(
    receiver: Receiver, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    *, change: tuple[Any, str, Any], said: str,
) -> None:  # fmt: skip
    config = make_config(folder)
    engine = Engine(config, blocks=60, specs=[full_attention(), WINDOW])
    connector = engine.scheduler.connector
    where, name, value = change
    owner = (
        {"config": config, "parallel": config.parallel_config}.get(where, where) if isinstance(where, str) else where
    )
    with listening(caplog), monkeypatch.context() as patch:
        patch.setattr(owner, name, value)
        connector.bind_kv_cache_manager(engine.scheduler.kv_cache_manager)
    assert f"no checkpoints are kept at the borders of documents: {said}" in caplog.text.replace(
        "this vLLM has ", ""
    ).replace("no shared_prefix_boundary in cache_blocks, ", "")
    assert connector._borders.facts is None
    # what is kept without borders is reported all the same
    receiver.wait_until(lambda: receiver.posts and receiver.posts[-1][0] == "snapshot")
    receiver.generation = None
    told = {"unit": BLOCK, "kinds": ["window"]}
    receiver.wait_until(lambda: receiver.posts[-1][1].get("checkpoints") == told)
    engine.close()
