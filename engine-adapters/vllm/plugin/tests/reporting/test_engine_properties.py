"""Whatever the scheduler does, the reports predict every hit exactly: no prefix is too long or too short."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from engine import Engine
from engine_config import BLOCK, make_config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from receiver import Receiver
from vllm.config import VllmConfig
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import Request

# documents of one and a half blocks, so that blocks span documents
_document = BLOCK * 3 // 2
_add = st.tuples(
    st.just("add"),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.integers(0, BLOCK),
    st.integers(1, 70),
)
_operations = st.lists(
    st.one_of(
        _add,
        _add,
        st.tuples(st.just("step"), st.integers(1, 8)),
        st.tuples(st.just("abort"), st.integers(0, 3)),
        st.tuples(st.just("run")),
        st.tuples(st.just("reset"), st.booleans()),
    ),
    min_size=1,
    max_size=20,
)


@pytest.fixture(scope="module")
def config(folder: Path) -> VllmConfig:
    return make_config(folder, max_num_batched_tokens=128, max_num_seqs=4)


@pytest.mark.parametrize("scheduler", [Scheduler, AsyncScheduler])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=_operations)
def test_what_was_reported_is_what_the_engine_finds(
    scheduler: type[Scheduler], operations: list[tuple], monkeypatch: pytest.MonkeyPatch, config: VllmConfig
) -> None:
    receiver = Receiver()
    monkeypatch.setenv("REPRISE_CALLBACK_URL", receiver.url)
    engine = Engine(config, blocks=24, scheduler=scheduler)
    requests: dict[str, Request] = {}
    for operation in operations:
        _apply(engine, requests, operation)
    engine.run()
    texts = [list(request.all_token_ids) for request in requests.values()]
    found = [engine.cached_tokens(text) for text in texts]
    receiver.wait_until(lambda: [_predict(receiver, requests, text) for text in texts] == found)
    for name, length in receiver.lengths.items():
        assert length <= engine.cached_tokens(requests[name].all_token_ids)
    engine.close()
    receiver.stop()


def _apply(engine: Engine, requests: dict[str, Request], operation: tuple) -> None:
    match operation:
        case "add", documents, tail, max_tokens:
            text = [1 + 100 * document + i for document in documents for i in range(_document)]
            name = f"r-{len(requests)}"
            requests[name] = engine.add(name, [*text, *range(3000, 3000 + tail)], max_tokens)
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
        case "reset", running:
            engine.scheduler.reset_prefix_cache(reset_running_requests=running)


def _predict(receiver: Receiver, requests: dict[str, Request], tokens: Sequence[int]) -> int:
    """Returns the longest prefix that any request shares with these tokens, as far as it is reported as cached."""
    return (
        max(
            (min(length, _common(requests[name].all_token_ids, tokens)) for name, length in receiver.lengths.items()),
            default=0,
        )
        // BLOCK
        * BLOCK
    )


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
