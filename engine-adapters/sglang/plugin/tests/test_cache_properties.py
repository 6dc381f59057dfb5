"""Whatever is served, evicted, aborted and split: belief matches the tree, and the tree stays SGLang's."""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from mirror_double import MirrorDouble
from scheduled_cache import Running, ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.registry import create_unified_radix_cache
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache

from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

PAGE = 4
MOST_RUNNING = 3

# few different pages in many orders, so that requests share prefixes, split each other's nodes and end within them
prompts = st.lists(st.integers(0, 2), min_size=1, max_size=7).flatmap(
    lambda firsts: st.integers(0, PAGE - 1).map(
        lambda tail: [10 * first + i for first in firsts for i in range(PAGE)] + [500 + i for i in range(tail)]
    )
)
salts = st.sampled_from([None, None, "tenant"])
chunks = st.sampled_from([None, None, PAGE, 2 * PAGE])


@dataclass
class Served:
    """A request, alive or not, and the tokens it has KV for."""

    salt: str | None
    tokens: list[int]
    prompt_length: int
    runs: list[Running] = field(default_factory=list)
    has_first_token: bool = False

    @property
    def is_computed(self) -> bool:
        return self.runs[0].req.extend_end >= self.prompt_length


class CacheMachine(RuleBasedStateMachine):
    """The scheduler's moves, made on a reporting cache and on SGLang's own in parallel."""

    core = "python"

    @initialize(pool_pages=st.sampled_from([12, 20, 40]))
    def start_engine(self, pool_pages: int) -> None:
        self.mirror = MirrorDouble()
        kinds = (ReportingRadixCache, UnifiedRadixCache)
        pool = pool_pages * PAGE
        caches = [create_unified_radix_cache(build_context(self.core, pool), cache_class=kind) for kind in kinds]
        caches[0].report_to(CacheReporter(self.mirror))
        self.scheduled = [ScheduledCache(cache) for cache in caches]
        self.served: dict[str, Served] = {}
        self.running: dict[str, Served] = {}
        self.retracted: dict[str, Served] = {}

    @precondition(lambda self: len(self.running) < MOST_RUNNING)
    @rule(prompt=prompts, salt=salts, chunk=chunks)
    def start(self, prompt: list[int], salt: str | None, chunk: int | None) -> None:
        if not self._has_room_for(len(prompt)):
            return
        rid = f"r-{len(self.served)}"
        served = Served(salt, list(prompt), len(prompt))
        served.runs = [each.start(rid, prompt, salt=salt, chunk=chunk) for each in self.scheduled]
        self.served[rid] = self.running[rid] = served

    @rule(prompt=prompts, salt=salts)
    def match_in_the_queue(self, prompt: list[int], salt: str | None) -> None:
        """A waiting request is matched repeatedly, which may split nodes."""
        for each in self.scheduled:
            each.match(prompt, salt=salt)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), token=st.integers(0, 1), steps=st.integers(1, 9))
    def go_on(self, data: st.DataObject, token: int, steps: int) -> None:
        served = self.running[data.draw(st.sampled_from(sorted(self.running)))]
        if not served.is_computed:
            if self._has_room_for(served.prompt_length):
                for each, run in zip(self.scheduled, served.runs, strict=True):
                    each.next_chunk(run)
        elif not served.has_first_token:
            served.has_first_token = True
            served.tokens.append(600 + token)
            for each, run in zip(self.scheduled, served.runs, strict=True):
                each.first_token(run, 600 + token)
        else:
            for _ in range(steps):
                if not self._has_room_for(PAGE):
                    return
                served.tokens.append(600 + token)
                for each, run in zip(self.scheduled, served.runs, strict=True):
                    each.decode(run, 600 + token)

    @precondition(lambda self: any(served.has_first_token for served in self.running.values()))
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        ready = sorted(rid for rid, served in self.running.items() if served.has_first_token)
        served = self.running.pop(data.draw(st.sampled_from(ready)))
        for each, run in zip(self.scheduled, served.runs, strict=True):
            each.finish(run)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        served = self.running.pop(data.draw(st.sampled_from(sorted(self.running))))
        for each, run in zip(self.scheduled, served.runs, strict=True):
            each.abort(run)

    @precondition(lambda self: any(served.is_computed for served in self.running.values()))
    @rule(data=st.data())
    def retract(self, data: st.DataObject) -> None:
        ready = sorted(rid for rid, served in self.running.items() if served.is_computed)
        rid = data.draw(st.sampled_from(ready))
        served = self.retracted[rid] = self.running.pop(rid)
        for each, run in zip(self.scheduled, served.runs, strict=True):
            each.retract(run)

    @precondition(lambda self: self.retracted and len(self.running) < MOST_RUNNING)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        rid = data.draw(st.sampled_from(sorted(self.retracted)))
        if not self._has_room_for(len(self.retracted[rid].tokens)):
            return
        served = self.running[rid] = self.retracted.pop(rid)
        served.has_first_token = False
        for each, run in zip(self.scheduled, served.runs, strict=True):
            each.resume(run)

    @rule(tokens=st.integers(1, 5 * PAGE))
    def evict(self, tokens: int) -> None:
        for each in self.scheduled:
            each.cache.evict(EvictParams(num_tokens=tokens))

    @precondition(lambda self: not self.running)
    @rule()
    def flush(self) -> None:
        for each in self.scheduled:
            each.flush()
        assert self.mirror.lengths == {}

    @invariant()
    def nothing_is_believed_that_is_lost(self) -> None:
        for rid, length in self.mirror.lengths.items():
            assert length <= self._truth(rid), rid

    @invariant()
    def everything_held_is_believed(self) -> None:
        for rid in self.served:
            assert self._believed_prefix(rid) == self._truth(rid), rid

    @invariant()
    def the_engine_does_what_it_does_unobserved(self) -> None:
        observed, plain = (each.cache for each in self.scheduled)
        assert [str(event) for event in observed.take_events()] == [str(event) for event in plain.take_events()]
        assert observed.full_evictable_size() == plain.full_evictable_size()
        assert observed.full_protected_size() == plain.full_protected_size()
        for served in self.running.values():
            slots = [self._row(each, run) for each, run in zip(self.scheduled, served.runs, strict=True)]
            assert slots[0] == slots[1]
        observed.sanity_check()

    def _truth(self, rid: str) -> int:
        served = self.served[rid]
        return self.scheduled[0].cached_length(served.tokens, salt=served.salt)

    def _believed_prefix(self, rid: str) -> int:
        """Returns the prefix length that reprise sees: the longest that any request is believed to hold."""
        served = self.served[rid]
        return max(
            (
                min(length, _shared(served.tokens, self.served[other].tokens))
                for other, length in self.mirror.lengths.items()
                if self.served[other].salt == served.salt
            ),
            default=0,
        )

    def _has_room_for(self, tokens: int) -> bool:
        return tokens + 2 * PAGE <= self.scheduled[0].free_tokens

    @staticmethod
    def _row(scheduled: ScheduledCache, run: Running) -> list[int]:
        row = scheduled.cache.req_to_token_pool.req_to_token[run.req.kv.req_pool_idx]
        return row[: run.req.kv.kv_allocated_len].tolist()


def _shared(a: list[int], b: list[int]) -> int:
    length = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return length // PAGE * PAGE


@pytest.mark.parametrize("core", ["rust", "python"])
def test_belief_is_the_tree(core: str) -> None:
    machine = type("Machine", (CacheMachine,), {"core": core})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=100,
            stateful_step_count=60,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
