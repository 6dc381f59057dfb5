"""Our own faults, and an unnoticed engine change: the engine keeps serving, and reprise believes nothing false."""

import logging
import threading
from collections.abc import Callable

import pytest
from mirror_double import MirrorDouble
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.registry import create_unified_radix_cache
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache

from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

PROMPT = list(range(16))


@pytest.fixture
def mirror() -> MirrorDouble:
    return MirrorDouble()


@pytest.fixture
def scheduled(core: str, mirror: MirrorDouble) -> ScheduledCache:
    cache = create_unified_radix_cache(build_context(core), cache_class=ReportingRadixCache)
    cache.report_to(CacheReporter(mirror))
    return ScheduledCache(cache)


def serve_and_evict(scheduled: ScheduledCache) -> None:
    """Exercises everything that is observed, and checks that it worked."""
    scheduled.serve("r-1", PROMPT)
    scheduled.serve("r-2", [*PROMPT[:8], *range(100, 108)])
    scheduled.abort(scheduled.start("r-3", PROMPT))
    assert scheduled.cached_length(PROMPT) == 16
    scheduled.cache.evict(EvictParams(num_tokens=1 << 20))
    assert scheduled.cached_length(PROMPT) == 0
    scheduled.flush()
    scheduled.serve("r-4", PROMPT)
    assert scheduled.cached_length(PROMPT) == 16
    scheduled.cache.sanity_check()


def fail(*_: object, **__: object) -> None:
    raise RuntimeError("a fault of ours")


@pytest.mark.parametrize("name", ["_see_request", "_look_at", "_see_evicted", "_see_all_evicted", "_path_to"])
def test_a_fault_while_observing_is_not_the_engines(
    scheduled: ScheduledCache,
    mirror: MirrorDouble,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(ReportingRadixCache, name, fail)
    serve_and_evict(scheduled)
    assert mirror.lengths == {}
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "a fault of ours" in caplog.text


@pytest.mark.parametrize("name", ["report", "cleared"])
def test_a_fault_of_the_sender_is_not_the_engines(
    scheduled: ScheduledCache, mirror: MirrorDouble, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, name, fail)
    serve_and_evict(scheduled)


def test_after_a_fault_nothing_is_believed_and_nothing_is_told(
    scheduled: ScheduledCache, mirror: MirrorDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled.serve("r-1", PROMPT)
    assert mirror.lengths == {"r-1": 16}
    with monkeypatch.context() as patched:
        patched.setattr(ReportingRadixCache, "_look_at", fail)
        scheduled.cache.evict(EvictParams(num_tokens=4))
    assert mirror.lengths == {}
    scheduled.serve("r-2", PROMPT)
    assert mirror.lengths == {}
    wait_until(lambda: mirror.is_closed)


def test_stopping_does_not_wait_for_the_last_post(
    scheduled: ScheduledCache, mirror: MirrorDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_posted = threading.Event()
    monkeypatch.setattr(mirror, "close", is_posted.wait)
    monkeypatch.setattr(ReportingRadixCache, "_see_request", fail)
    # would never return if it waited
    scheduled.serve("r-1", PROMPT)
    is_posted.set()


def test_evictions_that_go_past_what_is_observed_end_the_reports(
    scheduled: ScheduledCache, mirror: MirrorDouble, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scheduled.serve("r-1", PROMPT)
    # the method still exists, but this SGLang evicts through another one
    monkeypatch.setattr(ReportingRadixCache, "_evict_device_leaf", UnifiedRadixCache._evict_device_leaf)
    scheduled.cache.evict(EvictParams(num_tokens=16))
    assert mirror.lengths == {}
    assert "16 tokens were evicted and 0 were seen" in caplog.text


def test_a_session_that_keeps_its_kv_outside_the_tree_is_not_told(
    scheduled: ScheduledCache, mirror: MirrorDouble
) -> None:
    running = scheduled.start("r-1", PROMPT)
    running.req.last_node = object()
    scheduled.cache._see_request(running.req)
    assert mirror.told == []


def test_a_request_whose_node_is_gone_counts_as_not_cached(scheduled: ScheduledCache, mirror: MirrorDouble) -> None:
    req = scheduled.serve("r-1", PROMPT)
    scheduled.cache.evict(EvictParams(num_tokens=16))
    mirror.take_told()
    scheduled.cache.on_release(req, checkpointed=False)
    assert mirror.take_told() == [("evicted", "r-1", 0)]


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("waited in vain")
