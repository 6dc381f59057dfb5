"""What is reported about the real cache, step by step."""

from collections.abc import Sequence

import pytest
from mirror_double import MirrorDouble
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.registry import create_unified_radix_cache

from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

PAGE = 4


class Reported:
    """A reporting cache, driven like the scheduler does, and what is believed about it."""

    def __init__(self, core: str, **context: object) -> None:
        cache = create_unified_radix_cache(build_context(core, **context), cache_class=ReportingRadixCache)
        self.mirror = MirrorDouble()
        cache.report_to(CacheReporter(self.mirror))
        self.scheduled = ScheduledCache(cache)
        self.cache = cache


@pytest.fixture
def reported(core: str) -> Reported:
    return Reported(core)


def pages(*firsts: int) -> list[int]:
    """Returns a page of tokens for each number."""
    return [first * 100 + i for first in firsts for i in range(PAGE)]


def test_the_chosen_core_is_the_one_observed(reported: Reported, core: str) -> None:
    names = {"rust": "RustUnifiedTreeCore", "python": "UnifiedTreeCore"}
    assert type(reported.cache.tree_core).__name__ == names[core]


def test_a_prompt_is_stored_once_it_is_computed_and_its_answer_once_it_ends(reported: Reported) -> None:
    running = reported.scheduled.start("r-1", pages(1, 2))
    assert reported.mirror.told == []
    reported.scheduled.first_token(running, 7)
    assert reported.mirror.take_told() == [("stored", "r-1", 8)]
    for token in range(5):
        reported.scheduled.decode(running, token)
    reported.scheduled.finish(running)
    # the last token was never fed back, so its KV does not exist
    assert reported.mirror.take_told() == [("stored", "r-1", 12)]


def test_each_chunk_of_a_long_prompt_counts_from_when_it_is_computed(reported: Reported) -> None:
    running = reported.scheduled.start("r-1", pages(1, 2, 3), chunk=4)
    reported.scheduled.next_chunk(running, chunk=4)
    assert reported.mirror.take_told() == [("stored", "r-1", 4)]
    reported.scheduled.next_chunk(running)
    assert reported.mirror.take_told() == [("stored", "r-1", 8)]
    reported.scheduled.first_token(running, 7)
    assert reported.mirror.take_told() == [("stored", "r-1", 12)]


def test_a_prompt_that_fills_no_page_is_told_to_be_cached_nowhere(reported: Reported) -> None:
    reported.scheduled.serve("r-1", [1, 2, 3])
    assert set(reported.mirror.take_told()) == {("evicted", "r-1", 0)}


def test_an_evicted_leaf_cuts_its_requests_back_to_what_stays(reported: Reported) -> None:
    reported.scheduled.serve("r-1", pages(1, 2))
    reported.scheduled.serve("r-2", pages(1, 3))
    reported.mirror.take_told()
    reported.cache.evict(EvictParams(num_tokens=1))
    assert reported.mirror.take_told() == [("evicted", "r-1", 4)]
    reported.cache.evict(EvictParams(num_tokens=1))
    assert reported.mirror.take_told() == [("evicted", "r-2", 4)]
    reported.cache.evict(EvictParams(num_tokens=1))
    assert set(reported.mirror.take_told()) == {("evicted", "r-1", 0), ("evicted", "r-2", 0)}
    assert reported.mirror.places.requests == 0


def test_a_node_that_was_split_after_it_was_stored_is_followed(reported: Reported) -> None:
    reported.scheduled.serve("whole", pages(1, 2, 3, 4))
    # splits the node of `whole` twice, by a match and by an insert
    reported.scheduled.serve("half", pages(1, 2, 9))
    reported.scheduled.serve("quarter", pages(1, 8))
    reported.mirror.take_told()
    evicted = []
    while reported.cache.full_evictable_size():
        reported.cache.evict(EvictParams(num_tokens=1))
        evicted += reported.mirror.take_told()
    assert [(rid, length) for _, rid, length in evicted if rid == "whole"] == [("whole", 8), ("whole", 4), ("whole", 0)]
    assert [(rid, length) for _, rid, length in evicted if rid == "half"] == [("half", 8), ("half", 4), ("half", 0)]


def test_a_split_by_a_match_alone_is_followed(reported: Reported) -> None:
    reported.scheduled.serve("whole", pages(1, 2, 3, 4))
    aborted = reported.scheduled.start("aborted", pages(1, 9))
    reported.scheduled.abort(aborted)
    # it was never computed; only what it matched is cached
    assert reported.mirror.take_told()[-1] == ("stored", "aborted", 4)
    reported.cache.evict(EvictParams(num_tokens=1))
    assert reported.mirror.take_told() == [("evicted", "whole", 4)]


def test_an_abort_before_anything_is_cached_is_told(reported: Reported) -> None:
    reported.scheduled.abort(reported.scheduled.start("r-1", pages(1, 2)))
    assert reported.mirror.take_told() == [("evicted", "r-1", 0)]


def test_an_abort_between_chunks_keeps_the_chunks(reported: Reported) -> None:
    running = reported.scheduled.start("r-1", pages(1, 2, 3), chunk=4)
    reported.scheduled.next_chunk(running, chunk=4)
    reported.scheduled.abort(running)
    assert reported.mirror.lengths == {"r-1": 4}
    assert reported.scheduled.cached_length(pages(1, 2, 3)) == 4


def test_a_retracted_request_is_told_again_when_it_runs_again(reported: Reported) -> None:
    running = reported.scheduled.start("r-1", pages(1, 2))
    reported.scheduled.first_token(running, 7)
    reported.scheduled.retract(running)
    reported.cache.evict(EvictParams(num_tokens=8))
    assert reported.mirror.lengths == {}
    reported.scheduled.resume(running)
    reported.scheduled.first_token(running, 8)
    assert reported.mirror.lengths == {"r-1": 8}


def test_a_retracted_request_of_which_nothing_is_cached_is_not_forgotten(reported: Reported) -> None:
    running = reported.scheduled.start("r-1", pages(1, 2))
    reported.scheduled.retract(running)
    assert reported.mirror.told == []


def test_allocation_evicts_and_tells(reported: Reported) -> None:
    reported.scheduled.serve("old", pages(*range(1, 11)))
    reported.scheduled.serve("new", pages(*range(21, 31)))
    assert reported.mirror.lengths == {"new": 40}
    assert ("evicted", "old", 0) in reported.mirror.told


def test_decoding_evicts_and_tells(reported: Reported) -> None:
    reported.scheduled.serve("old", pages(1, 2, 3, 4))
    running = reported.scheduled.start("long", pages(11, 12))
    reported.scheduled.first_token(running, 7)
    for token in range(45):
        reported.scheduled.decode(running, token)
    assert reported.mirror.lengths == {"long": 8}
    reported.scheduled.finish(running)
    assert reported.mirror.lengths == {"long": 52}


def test_tenants_share_no_node(reported: Reported) -> None:
    reported.scheduled.serve("a", pages(1, 2), salt="tenant-a")
    reported.scheduled.serve("b", pages(1, 2), salt="tenant-b")
    reported.scheduled.serve("lora", pages(1, 2), extra_key="lora")
    reported.mirror.take_told()
    reported.cache.evict(EvictParams(num_tokens=1))
    assert reported.mirror.take_told() == [("evicted", "a", 0)]
    assert reported.mirror.lengths == {"b": 8, "lora": 8}


def test_a_flush_clears_everything(reported: Reported) -> None:
    reported.scheduled.serve("r-1", pages(1, 2))
    reported.scheduled.flush()
    assert reported.mirror.lengths == {}
    assert reported.mirror.places.requests == 0
    reported.scheduled.serve("r-2", pages(1, 2))
    reported.cache.evict(EvictParams(num_tokens=8))
    assert [rid for _, rid, _ in reported.mirror.take_told()][-1] == "r-2"


def test_health_probes_are_not_told(reported: Reported) -> None:
    reported.scheduled.serve("HEALTH_CHECK_1700000000", pages(1, 2))
    assert reported.mirror.told == []


def test_many_evictions_of_one_call_are_one_report(core: str) -> None:
    reported = Reported(core, pool_tokens=256)
    for i in range(8):
        reported.scheduled.serve(f"r-{i}", pages(10 + i))
    counts: list[int] = []
    report = reported.mirror.report

    def count(facts: Sequence[object], number: int = 1) -> None:
        counts.append(number)
        report(facts, number)

    reported.mirror.report = count  # type: ignore[method-assign]
    reported.cache.evict(EvictParams(num_tokens=5 * PAGE))
    assert counts == [5]
    assert len(reported.mirror.lengths) == 3


@pytest.mark.parametrize("page_size", [1, 16])
def test_other_page_sizes(core: str, page_size: int) -> None:
    reported = Reported(core, pool_tokens=128, page_size=page_size)
    reported.scheduled.serve("r-1", list(range(40)), [900])
    assert reported.mirror.lengths == {"r-1": 40 // page_size * page_size}
    reported.scheduled.serve("r-2", [*range(33), *range(700, 730)], [900])
    reported.cache.evict(EvictParams(num_tokens=1))
    cached = reported.scheduled.cached_length(list(range(40)))
    assert reported.mirror.lengths["r-1"] == cached < 40


def test_of_nodes_of_one_chain_that_go_at_once_the_first_counts(reported: Reported) -> None:
    chain = pages(1, 2, 3, 4, 5, 6)
    for rid, length in (("r-1", 8), ("r-2", 16), ("r-3", 24)):
        reported.scheduled.serve(rid, chain[:length])
    reported.mirror.take_told()
    # one eviction, hence one report, removes two of the chain's three nodes
    reported.cache.evict(EvictParams(num_tokens=9))
    assert reported.scheduled.cached_length(chain) == 8
    assert reported.mirror.lengths == {"r-1": 8, "r-2": 8, "r-3": 8}
    assert reported.mirror.take_told()[0] == ("evicted", "r-3", 16)
    reported.scheduled.serve("r-4", chain)
    assert reported.mirror.lengths == {"r-1": 8, "r-2": 8, "r-3": 8, "r-4": 24}
    reported.cache.evict(EvictParams(num_tokens=24))
    assert reported.mirror.lengths == {}
    assert reported.mirror.places.requests == 0
