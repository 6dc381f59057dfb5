"""What is reported of models with windows is what the engine finds, in vLLM's real scheduler."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from engine import Engine, tokens
from engine_config import BLOCK, full_attention, make_config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from receiver import Receiver
from vllm.config import VllmConfig
from vllm.v1.kv_cache_interface import KVCacheSpec, MambaSpec, SlidingWindowSpec
from vllm.v1.request import Request


def window(block_size: int = BLOCK, tokens: int = 64) -> KVCacheSpec:
    return SlidingWindowSpec(
        block_size=block_size, num_kv_heads=1, head_size=64, dtype=torch.float32, sliding_window=tokens
    )


def state(block_size: int = BLOCK) -> KVCacheSpec:
    return MambaSpec(block_size=block_size, shapes=((4, 4),), dtypes=(torch.float32,), mamba_cache_mode="align")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> VllmConfig:
    return make_config(tmp_path_factory.mktemp("model"), max_num_batched_tokens=256, max_num_seqs=4)


def with_borders(engine: Engine, name: str, prompt: Sequence[int], borders: list[int], **options: Any) -> Request:
    request = engine.add(name, prompt, **options)
    key = engine.scheduler.connector._borders.facts["key"]
    request.kv_transfer_params = {"reprise": {"borders": borders, "key": key}}
    engine.scheduler.connector.on_new_request(request)
    return request


def held_of(receiver: Receiver, texts: dict[str, Sequence[int]]) -> dict[tuple[int, ...], bool]:
    """Returns which beginnings are checkpoints: what was reported last of one holds."""
    held: dict[tuple[int, ...], bool] = {}
    for kind, body in receiver.posts:
        if kind == "snapshot":
            held.clear()
        for report in body["requests" if kind == "snapshot" else "events"]:
            if report.get("type") == "cleared":
                held.clear()
                continue
            text = texts[report["request_id"]]
            told = report.get("checkpoints")
            for end in range(BLOCK, len(text) + 1, BLOCK):
                if end > report["cached_tokens"]:
                    held[tuple(text[:end])] = False
                elif told is not None:
                    held[tuple(text[:end])] = end in told
    return held


def predict(held: dict[tuple[int, ...], bool], text: Sequence[int]) -> int:
    return max((end for end in range(BLOCK, len(text) + 1, BLOCK) if held.get(tuple(text[:end]))), default=0)


def test_the_ends_of_prompts_junctions_and_borders_are_reported(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder), blocks=200, specs=[full_attention(), window(), window()])
    engine.add("r-1", tokens(0, 400))
    engine.run()
    with_borders(engine, "r-2", [*tokens(0, 200), *tokens(5000, 200)], [100, 300])
    engine.run()
    receiver.wait_until(lambda: len(receiver.lengths) == 2)
    engine.close()
    reports = [report for _, body in receiver.posts for report in body.get("events") or body.get("requests") or []]
    told = {report["request_id"]: report["checkpoints"] for report in reports}
    assert told == {"r-1": [384], "r-2": [96, 192, 288, 384]}


def test_a_checkpoint_whose_window_is_evicted_is_reported_as_lost(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder), blocks=40, specs=[full_attention(), window()])
    texts = {f"r-{i}": tokens(engine.fresh(), 400) for i in range(4)}
    for name, text in texts.items():
        with_borders(engine, name, text, [200])
        engine.run()
    found = {name: engine.cached_tokens(text) for name, text in texts.items()}
    receiver.wait_until(
        lambda: {name: predict(held_of(receiver, texts), text) for name, text in texts.items()} == found
    )
    engine.close()
    assert found["r-3"] == 384
    assert found["r-0"] == 0


def test_what_is_reported_fits_into_a_snapshot(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder), blocks=200, specs=[full_attention(), window()])
    with_borders(engine, "r-1", tokens(0, 400), [200])
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 384})
    receiver.generation = None
    receiver.wait_until(lambda: receiver.posts[-1][0] == "snapshot")
    engine.close()
    assert receiver.posts[-1][1]["requests"] == [{"request_id": "r-1", "cached_tokens": 384, "checkpoints": [192, 384]}]


_document = 2 * BLOCK + 5
_operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("add"),
            st.lists(st.integers(0, 3), min_size=1, max_size=4),
            st.integers(1, 40),
            st.integers(1, 20),
            st.booleans(),
        ),
        st.tuples(st.just("step"), st.integers(1, 3)),
        st.tuples(st.just("abort"), st.integers(0, 3)),
        st.tuples(st.just("run")),
    ),
    max_size=20,
)


_sides = pytest.mark.parametrize(
    "sides",
    [[window()], [window(), window(tokens=130)], [window(), window(block_size=2 * BLOCK, tokens=130)]],
    ids=["a window", "two windows", "windows in other blocks"],
)


@_sides
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=_operations)
def test_what_was_reported_is_what_the_engine_finds(
    operations: list[tuple], sides: list[KVCacheSpec], monkeypatch: pytest.MonkeyPatch, config: VllmConfig
) -> None:
    _compare(operations, sides, monkeypatch, config)


@_sides
@pytest.mark.parametrize(
    "operations",
    [
        [("add", [3, 3], 14, 7, False), ("add", [2], 29, 18, True), ("run",), ("add", [3, 0, 1, 1], 16, 1, True)],
        # full attention holds all of the last prompt before its windows are computed
        [
            ("add", [0, 1, 1, 2], 2, 9, True), ("run",), ("add", [1, 0, 0, 3], 7, 18, False),
            ("add", [2, 1, 3], 10, 5, True), ("run",), ("add", [3, 1, 1], 26, 1, False), ("add", [0], 4, 13, False),
        ],
    ],
)  # fmt: skip
def test_windows_of_which_several_requests_computed_blocks_are_reported(
    operations: list[tuple], sides: list[KVCacheSpec], monkeypatch: pytest.MonkeyPatch, config: VllmConfig
) -> None:
    _compare(operations, sides, monkeypatch, config)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=_operations)
def test_states_are_reported_where_the_engine_finds_them(
    operations: list[tuple], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _compare(operations, [state()], monkeypatch, _with_states(tmp_path_factory, BLOCK))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=_operations)
def test_states_within_blocks_are_never_reported_where_the_engine_does_not_find_them(
    operations: list[tuple], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    size = 4 * BLOCK
    engine, receiver, texts = _after(
        operations, [full_attention(size), state(size)], monkeypatch, _with_states(tmp_path_factory, size)
    )
    found = [engine.cached_tokens(text) for text in texts.values()]
    # sends what is left
    engine.close()
    held = held_of(receiver, texts)
    receiver.stop()
    # what the engine holds of a block that is not full is not reported, so less may be told than is found
    assert all(predict(held, text) <= most for text, most in zip(texts.values(), found, strict=True))


def test_states_at_the_ends_of_whole_blocks_are_reported_with_a_finer_match_unit(
    receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> None:
    size = 4 * BLOCK
    engine = Engine(_with_states(tmp_path_factory, size), blocks=48, specs=[full_attention(size), state(size)])
    prompt = tokens(0, 3 * size + 10)
    with_borders(engine, "r-1", prompt, [2 * size])
    engine.run()
    receiver.wait_until(lambda: predict(held_of(receiver, {"r-1": prompt}), prompt[: 2 * size]) == 2 * size)
    found = engine.cached_tokens([*prompt[: 2 * size], *tokens(5000, 20)])
    engine.close()
    assert found == 2 * size


def _with_states(folders: pytest.TempPathFactory, block_size: int) -> VllmConfig:
    config = make_config(folders.mktemp("model"), max_num_batched_tokens=256, max_num_seqs=4, block_size=block_size)
    config.cache_config.mamba_cache_mode = "align"
    return config


def _after(
    operations: list[tuple], specs: list[KVCacheSpec], monkeypatch: pytest.MonkeyPatch, config: VllmConfig
) -> tuple[Engine, Receiver, dict[str, list[int]]]:
    """Runs them. Returns what has run them, who was told, and the texts of all requests."""
    receiver = Receiver()
    monkeypatch.setenv("REPRISE_CALLBACK_URL", receiver.url)
    engine = Engine(config, blocks=48, specs=specs)
    requests: dict[str, Request] = {}
    for operation in [*operations, ("run",)]:
        _apply(engine, requests, operation)
    return engine, receiver, {name: list(request.all_token_ids) for name, request in requests.items()}


def _compare(
    operations: list[tuple], sides: list[KVCacheSpec], monkeypatch: pytest.MonkeyPatch, config: VllmConfig
) -> None:
    engine, receiver, texts = _after(operations, [full_attention(), *sides], monkeypatch, config)
    found = [engine.cached_tokens(text) for text in texts.values()]

    def predicted() -> list[int]:
        held = held_of(receiver, texts)
        return [predict(held, text) for text in texts.values()]

    receiver.wait_until(lambda: predicted() == found, seconds=20)
    engine.close()
    receiver.stop()


def _apply(engine: Engine, requests: dict[str, Request], operation: tuple) -> None:
    match operation:
        case "add", documents, tail, max_tokens, has_borders:
            text = [1 + 100 * document + i for document in documents for i in range(_document)]
            name, prompt = f"r-{len(requests)}", [*text, *range(3000, 3000 + tail)]
            borders = [_document * (i + 1) for i in range(len(documents))] if has_borders else [1]
            requests[name] = with_borders(engine, name, prompt, borders, max_tokens=max_tokens)
        case "step", count:
            for _ in range(count):
                if engine.scheduler.has_unfinished_requests():
                    engine.step()
        case "abort", which:
            running = [request for request in requests.values() if not request.is_finished()]
            if which < len(running):
                engine.abort(running[which])
        case ("run",):
            engine.run()
