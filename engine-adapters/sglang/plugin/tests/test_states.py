"""Models with states: a prefix is found where the tree keeps one, and these lengths are told."""

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
_histories = st.lists(
    st.one_of(
        st.tuples(st.just("serve"), _documents, st.integers(0, 2), st.integers(1, 3), st.sampled_from([None, 3])),
        st.tuples(st.just("evict states"), st.integers(1, 2)),
        st.tuples(st.just("evict tokens"), st.integers(1, 8)),
    ),
    max_size=20,
)


class Engine:
    """SGLang's cache for a model with states, and what reprise believes of it."""

    def __init__(self, core: str) -> None:
        self.cache = create_unified_radix_cache(build_context(core, 64, 1, states=12), cache_class=ReportingRadixCache)
        self.mirror = MirrorDouble()
        self.cache.report_to(CacheReporter(self.mirror))
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

    def evict(self, tokens: int = 0, states: int = 0) -> None:
        self.cache.evict(EvictParams(num_tokens=tokens, mamba_num=states))

    def assert_told_what_is_found(self) -> None:
        found = {name: self._scheduled.match([*text, 9]) for name, text in self.texts.items()}
        assert {name: self.mirror.find(text, self.texts) for name, text in self.texts.items()} == found
        assert not self.mirror.is_closed


def test_a_lost_state_is_told_of_once_and_holds_for_all_who_share_it(core: str) -> None:
    engine = Engine(core)
    for prompt in ([1, 2], [1, 2, 3, 4], [1, 2, 5, 6]):
        engine.serve(prompt)
    assert list(engine.mirror.checkpoints.values()) == [[2], [2, 4], [2, 4]]
    engine.mirror.take_told()
    # the least recently used one is that of the second prompt, which goes with its tokens
    engine.evict(states=2)
    assert engine.mirror.take_told() == [("evicted", "r-1", 2), ("evicted", "r-2", 4)]
    assert engine.mirror.checkpoints["r-2"] == [4]
    engine.assert_told_what_is_found()


@pytest.mark.parametrize("core", ["rust", "python"])
@settings(max_examples=60, deadline=None)
@given(history=_histories)
def test_what_was_told_is_what_the_engine_finds(core: str, history: list[tuple]) -> None:
    engine = Engine(core)
    for kind, *arguments in history:
        if kind == "serve":
            documents, tail, outputs, chunk = arguments
            engine.serve(
                [*(10 * one + i for one in documents for i in range(3)), *range(500, 500 + tail)], outputs, chunk
            )
        elif kind == "evict states":
            engine.evict(states=arguments[0])
        else:
            engine.evict(tokens=arguments[0])
    engine.assert_told_what_is_found()
