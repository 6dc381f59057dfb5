"""Models with windows or states: a prefix is found where the tree keeps one, and these lengths are told."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mirror_double import MirrorDouble
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.registry import create_unified_radix_cache

from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

_documents = st.lists(st.integers(0, 1), min_size=1, max_size=4)
_KEPT = {"windows": {"window": 4, "window_tokens": 40}, "states": {"states": 12}}
_histories = st.lists(
    st.one_of(
        st.tuples(st.just("serve"), _documents, st.integers(0, 2), st.integers(1, 3), st.sampled_from([None, 3])),
        st.tuples(st.just("evict kept"), st.integers(1, 6)),
        st.tuples(st.just("evict tokens"), st.integers(1, 8)),
    ),
    max_size=20,
)


class Engine:
    """SGLang's cache for a model with windows or states, and what reprise believes of it."""

    def __init__(self, core: str, kept: str, page_size: int = 1) -> None:
        context = build_context(core, 64, page_size, **_KEPT[kept])
        self.cache = create_unified_radix_cache(context, cache_class=ReportingRadixCache)
        self.mirror = MirrorDouble()
        self.cache.report_to(CacheReporter(self.mirror))
        self.cache._found.most_share = self.cache._found.slice_seconds = math.inf
        self._scheduled = ScheduledCache(self.cache)
        self.texts: dict[str, Sequence[int]] = {}

    def serve(self, prompt: Sequence[int], outputs: int = 1, chunk: int | None = None) -> None:
        rid = f"r-{len(self.texts)}"
        running = self._scheduled.start(rid, prompt, chunk=chunk)
        while running.req.extend_end < len(prompt):
            self._scheduled.next_chunk(running, chunk)
        self._scheduled.first_token(running, 600)
        for _ in range(outputs - 1):
            self._scheduled.decode(running, 600)
        self._scheduled.finish(running)
        self.texts[rid] = [*prompt, *[600] * outputs]

    def evict(self, tokens: int = 0, window_tokens: int = 0, states: int = 0) -> None:
        self.cache.evict(EvictParams(num_tokens=tokens, swa_num_tokens=window_tokens, mamba_num=states))

    def assert_told_what_is_found(self) -> None:
        found = {name: self._scheduled.match([*text, 9]) for name, text in self.texts.items()}
        assert {name: self.mirror.find(text, self.texts) for name, text in self.texts.items()} == found
        assert not self.mirror.is_closed


def test_a_lost_state_is_told_of_once_and_holds_for_all_who_share_it(core: str) -> None:
    engine = Engine(core, "states")
    for prompt in ([1, 2], [1, 2, 3, 4], [1, 2, 5, 6]):
        engine.serve(prompt)
    assert list(engine.mirror.checkpoints.values()) == [[2], [2, 4], [2, 4]]
    engine.mirror.take_told()
    # the least recently used one is that of the second prompt, which goes with its tokens
    engine.evict(states=2)
    told = engine.mirror.take_told()
    assert told[0] == ("evicted", "r-1", 2) and len(told) == 2
    engine.assert_told_what_is_found()


@pytest.mark.parametrize("page_size", [1, 4])
def test_windows_are_told_as_ranges_and_a_lost_one_for_all_who_stand_behind_it(core: str, page_size: int) -> None:
    engine = Engine(core, "windows", page_size)
    for tail in (100, 200, 300):
        engine.serve([*range(10), *range(tail, tail + 9)])
    engine.assert_told_what_is_found()
    assert any(isinstance(own, tuple) for own in engine.mirror.checkpoints["r-2"])
    engine.evict(window_tokens=24)
    engine.assert_told_what_is_found()


def test_where_sglang_keeps_the_windows_of_whole_prompts_the_second_one_finds_all_that_it_shares(
    core: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_OPT_UNIFIED_CACHE_FREE_OUT_OF_WINDOW_SLOTS", "0")
    engine = Engine(core, "windows")
    engine.serve([*range(10), *range(100, 109)])
    assert engine.mirror.checkpoints["r-0"] == [(1, 19)]
    engine.serve([*range(10), *range(200, 209)])
    engine.assert_told_what_is_found()


def test_a_window_that_another_request_brings_back_is_told_for_all_who_stand_behind_it(core: str) -> None:
    engine = Engine(core, "windows")
    shared = [*range(20)]
    for tail in (100, 200):
        engine.serve([*shared, tail, tail + 1])
    engine.evict(window_tokens=6)
    engine.assert_told_what_is_found()
    engine.serve([*shared, 300])
    engine.serve([*shared, 400])
    engine.assert_told_what_is_found()


def test_reading_takes_a_fiftieth_of_the_time_at_most_and_what_is_lost_meanwhile_is_told_later(core: str) -> None:
    engine = Engine(core, "windows")
    found = engine.cache._found
    clock = Clock()
    found._now, found.most_share = clock.read, 0.02
    for tail in (100, 200, 300):
        engine.serve([*range(10), *range(tail, tail + 9)])
    engine.mirror.take_told()
    # by this clock a pass takes a second, so the next one comes 50 s later
    engine.evict(window_tokens=4)
    engine.assert_told_what_is_found()
    engine.evict(window_tokens=8)
    engine.mirror.take_told()
    clock.seconds += 40
    engine.serve([7])
    assert [name for _, name, _ in engine.mirror.take_told() if name != "r-3"] == []
    clock.seconds += 20
    engine.serve([8])
    assert [name for _, name, _ in engine.mirror.take_told() if name != "r-4"] != []
    engine.assert_told_what_is_found()


def test_a_pass_in_slices_tells_what_one_at_once_does(core: str) -> None:
    engine = Engine(core, "windows")
    for tail in range(6):
        engine.serve([*range(10), *range(100 * tail + 100, 100 * tail + 105)])
    engine.cache._found._PATHS_AT_ONCE, engine.cache._found.slice_seconds = 1, 0
    engine.evict(window_tokens=8)
    assert len(engine.cache._found._unread) > 1
    # each step reads on
    for _ in range(12):
        engine.cache._observe(engine.cache._see_changed_lengths)
    assert engine.cache._found._unread == []
    engine.assert_told_what_is_found()


class Clock:
    """Goes on by half a second each time it is read."""

    seconds = 0.0

    def read(self) -> float:
        self.seconds += 0.5
        return self.seconds


@pytest.mark.parametrize("kept", _KEPT)
@pytest.mark.parametrize("core", ["rust", "python"])
@settings(max_examples=100, deadline=None)
@given(history=_histories)
def test_what_was_told_is_what_the_engine_finds(core: str, kept: str, history: list[tuple]) -> None:
    engine = Engine(core, kept)
    for kind, *arguments in history:
        if kind == "serve":
            documents, tail, outputs, chunk = arguments
            engine.serve(
                [*(10 * one + i for one in documents for i in range(3)), *range(500, 500 + tail)], outputs, chunk
            )
        elif kind == "evict tokens":
            engine.evict(tokens=arguments[0])
        elif kept == "windows":
            engine.evict(window_tokens=arguments[0])
        else:
            engine.evict(states=arguments[0])
    engine.assert_told_what_is_found()
