"""Segments that host memory stores in fewer bits: more of them fit, they stay close, and never count as exact."""

from collections.abc import Iterator

import pytest
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, difference, full_attention, prompt, said

ROOM = 2 << 20
CLOSE = {"int8": 0.2, "k8v4": 0.5}
"""difference of log probabilities in a random model; stock and full attention differ by less than 0.001 there"""


@pytest.fixture(scope="module", params=["int8", "k8v4"])
def engine(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[ReusingEngine]:
    folder = tmp_path_factory.mktemp("engine")
    disk = {"disk": str(folder / "disk"), "disk_bytes": 16 << 20}
    engine = ReusingEngine(make_model(folder / "model"), {"host_bytes": ROOM, "host_dtype": request.param, **disk})
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()


def test_the_engine_has_proved_that_it_can_reuse_and_memory_holds_more(engine):
    assert engine.reuse.is_ready and engine.reuse.refusal is None
    plain = 2 * 3 * 2 * 32 * 4 + 20
    assert engine.reuse._limits.host_tokens > 3 * (ROOM // plain)


def test_computing_everything_again_is_full_attention(engine):
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert engine.tokens_by_kind()["recomputed"] > 400
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_a_prefix_that_left_the_pages_comes_back_close_is_not_computed_again_and_not_called_exact(engine):
    asked = prompt([0, 1, 2, 3, 4, 5], question=3)
    engine.ask([FIRST])
    engine.core.scheduler.kv_cache_manager.reset_prefix_cache()
    engine.tokens_by_kind()
    answer = engine.ask([asked], {"reuse": 0.15})[0]
    counts = engine.tokens_by_kind()
    assert (counts["exact"], counts["recomputed"]) == (0, 0) and counts["reused"] > 600
    assert sum(counts.values()) == len(asked)
    expected = full_attention(engine, asked)
    assert 0 < difference(answer, expected) < CLOSE[engine.reuse._settings.host_dtype]
    # requests that want exact rows do not find approximate ones
    again = engine.ask([asked], {"reuse": "off"})[0]
    assert said(again) == said(expected) and difference(again, expected) < 1e-3
