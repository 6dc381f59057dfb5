"""Eviction and admission by hotness, in SGLang's own tree: prefixes in frequent use stay, or go to the host."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.unified_cache.cache_action import BackupKV
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from test_host_tier import TieredCache

from reprise_hotness.formula import ADMISSION_HOTNESS, EVICTION_PRIORITY, parse_formula
from reprise_hotness.tracker import MAX_AGE, REQUESTS_PER_AGE, HotnessTracker
from reprise_sglang.create_cache import create_cache
from reprise_sglang.hotness import hot_radix_cache
from reprise_sglang.hotness.hot_radix_cache import HotRadixCache
from reprise_sglang.hotness.leaves import EvictableLeaves
from reprise_sglang.hotness.settings import HotnessSettingError, HotnessSettings


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ScheduledCache]:
    def build(policy: str = "hotprefix", **options: int) -> ScheduledCache:
        monkeypatch.setenv("REPRISE_EVICTION", policy)
        return ScheduledCache(create_cache(build_context("rust", **options)))

    return build


def prompt(task: int, question: int, shared: int = 16, own: int = 4) -> list[int]:
    """A few-shot prompt: the part shared by all prompts of a task, and its own question."""
    return [*(1000 * task + i for i in range(shared)), *(10**6 + 100 * question + i for i in range(own))]


def test_the_operator_chooses_it_by_name(build, monkeypatch):
    assert isinstance(build().cache, HotRadixCache)
    assert not isinstance(build("stock").cache, HotRadixCache)
    with pytest.raises(HotnessSettingError, match=r"REPRISE_EVICTION is 'hot'.*stock, hotprefix"):
        build("hot")
    monkeypatch.setenv("REPRISE_ADMISSION_FREQUENCY", "-3")
    with pytest.raises(HotnessSettingError, match="REPRISE_ADMISSION_FREQUENCY is '-3'"):
        build()


def test_where_it_cannot_be_followed_the_server_does_not_start(monkeypatch):
    monkeypatch.setenv("REPRISE_EVICTION", "hotprefix")
    with pytest.raises(HotnessSettingError, match="The radix cache is disabled"):
        create_cache(build_context("rust", disable_radix_cache=True))
    with pytest.raises(HotnessSettingError, match="States and windows have an order of their own"):
        create_cache(build_context("rust", page_size=1, states=8))


def test_what_is_asked_for_often_outlives_what_was_asked_for_last(build):
    served = build(pool_tokens=64)
    for question in range(4):
        served.serve(f"often-{question}", prompt(1, question))
    for i in range(12):
        served.serve(f"once-{i}", prompt(10 + i, 100 + i))
    assert served.cached_length(prompt(1, 0)) >= 16
    # with LRU, the task from twelve requests ago is gone
    stock = build("stock", pool_tokens=64)
    for question in range(4):
        stock.serve(f"often-{question}", prompt(1, question))
    for i in range(12):
        stock.serve(f"once-{i}", prompt(10 + i, 100 + i))
    assert stock.cached_length(prompt(1, 0)) == 0


@pytest.mark.parametrize("name", ["_prefixes", "_use"])
def test_a_fault_in_counting_is_said_once_and_not_the_engines(build, monkeypatch, caplog, name):
    served = build(pool_tokens=64)
    served.serve("counted", prompt(1, 0))
    monkeypatch.setattr(HotRadixCache, name, lambda *arguments: 1 / 0)
    for question in range(20):
        served.serve(f"r-{question}", prompt(question, question))
    assert served.cached_length(prompt(19, 19)) == 20
    served.cache.sanity_check()
    assert [one.getMessage().split(":")[0] for one in caplog.records if one.exc_info] == ["reprise"]


@pytest.mark.parametrize("name", ["_prefixes", "_use"])
def test_after_a_fault_in_counting_what_was_hot_goes_by_its_last_use(build, monkeypatch, name):
    served = build(pool_tokens=64)
    for question in range(20):
        served.serve(f"hot-{question}", prompt(1, question % 2))
    monkeypatch.setattr(HotRadixCache, name, lambda *arguments: 1 / 0)
    for question in range(2, 12):
        served.serve(f"r-{question}", prompt(question, question))
        served.serve(f"again-{question}", prompt(2, 2))
    assert served.cached_length(prompt(1, 0)) == 0
    assert served.cached_length(prompt(2, 2)) == 20
    served.cache.sanity_check()


@pytest.mark.parametrize("group", ["tp_group", "attn_cp_group", "pp_group"])
def test_of_several_ranks_none_goes_on_with_a_count_of_its_own(build, monkeypatch, group):
    served = build(pool_tokens=64)
    monkeypatch.setattr(HotRadixCache, "_prefixes", lambda *arguments: 1 / 0)
    monkeypatch.setattr(served.cache, group, "of two ranks")
    monkeypatch.setattr(hot_radix_cache, "get_world_size", {"of two ranks": 2}.__getitem__)
    with pytest.raises(ZeroDivisionError):
        served.serve("counted", prompt(1, 0))


def test_a_prefix_that_was_evicted_is_as_hot_when_it_comes_back(build):
    served = build(pool_tokens=64)
    for question in range(5):
        served.serve(f"a-{question}", prompt(1, question))
    served.cache.evict(EvictParams(num_tokens=1 << 20))
    assert served.cached_length(prompt(1, 0)) == 0
    # the shared part becomes a node again, and is known from before
    served.serve("back", prompt(1, 8))
    served.serve("again", prompt(1, 9))
    for i in range(12):
        served.serve(f"once-{i}", prompt(10 + i, 100 + i))
    assert served.cached_length(prompt(1, 0)) >= 16


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_victims_are_those_of_a_search_through_all_leaves(seed):
    """Algorithm 1: evicts the evictable leaf with the lowest priority."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRISE_EVICTION", "hotprefix")
        served = ScheduledCache(create_cache(build_context("python", pool_tokens=96)))
    component = served.cache.hot_component
    random_ = random.Random(seed)
    next_node = component._evict_device_next_node
    chosen = 0

    def check(tracker, *arguments, **named):
        nonlocal chosen
        given_out = {leaf.id for leaf in component._popped}
        leaves = [leaf for leaf in served.cache.tree_core.evictable_device_leaves if leaf.id not in given_out]
        node = next_node(tracker, *arguments, **named)
        if node is not None:
            keys = {leaf.id: component.priority_of(leaf) for leaf in leaves}
            assert keys[node] == min(keys.values())
            chosen += 1
        return node

    component._evict_device_next_node = check
    for i in range(60):
        served.serve(f"r-{i}", prompt(random_.randrange(5), random_.randrange(40)), output=(7, 8))
        served.cache.sanity_check()
    assert chosen > 10


def test_a_leaf_that_could_not_be_evicted_is_there_the_next_time():
    class Leaf:
        def __init__(self, id_: int) -> None:
            self.id = id_

    one, two = Leaf(1), Leaf(2)
    leaves = EvictableLeaves([one, two], lambda leaf: 0.0)
    assert leaves.pop_first() is one
    leaves.put_back(one)
    leaves.put_back(one)
    leaves.discard(two)
    assert leaves.pop_first() is one
    assert leaves.pop_first() is None


@pytest.mark.parametrize("max_age", [MAX_AGE, 40])
def test_clocks_fall_with_requests_and_frequencies_never(max_age):
    tracker = HotnessTracker(max_age=max_age)
    heat = tracker.use(b"a", None)
    assert tracker.clock(heat) == max_age
    for _ in range(3 * REQUESTS_PER_AGE):
        tracker.pass_request()
    assert tracker.clock(heat) == max_age - 3
    assert tracker.priority(heat, 64) == 1 + (max_age - 3) / 64
    for _ in range(max_age * REQUESTS_PER_AGE):
        tracker.pass_request()
    assert (tracker.clock(heat), tracker.hotness(heat, 64), heat.frequency) == (0, 0, 1)
    assert tracker.use(b"a", None) is heat and tracker.hotness(heat, 64) == 2 * max_age


def test_of_what_nobody_asks_for_any_more_a_bounded_number_is_known():
    tracker = HotnessTracker(capacity=100)
    for i in range(1000):
        tracker.use(str(i).encode(), None)
        tracker.use(b"often", None)
    assert len(tracker._recent) + len(tracker._older) <= 200
    assert tracker.use(b"often", None).frequency == 1001
    assert tracker.use(b"0", None).frequency == 1


@pytest.mark.parametrize("threshold", [2, 3])
def test_only_what_was_asked_for_often_goes_to_the_host(monkeypatch, threshold):
    monkeypatch.setattr("test_host_tier.ReportingRadixCache", HotRadixCache)
    monkeypatch.setattr("test_host_tier.build_context", _hot_context)
    tiered = TieredCache("python")
    cache, (first, second) = tiered.cache, tiered.requests
    cache.is_write_back = True
    cache.configure(HotnessSettings(admission_frequency=threshold))
    written: list[int] = []

    def write(_: object, action: BackupKV, write_back: bool = False) -> int:
        written.extend(action.node_ids)
        return sum(tiered.back_up(node) for node in action.node_ids)

    monkeypatch.setattr(UnifiedRadixCache, "_execute_and_commit_kv_backup", write)
    monkeypatch.setattr(cache, "writing_check", lambda write_back: None)
    shared = cache.tree_core.node_by_id(first.last_node).parent.id
    assert shared == cache.tree_core.node_by_id(second.last_node).parent.id
    cache.evict(EvictParams(num_tokens=1 << 20))
    # two requests used the shared part, one used each tail
    assert written == ([shared] if threshold == 2 else [])
    cache.sanity_check()


def _hot_context(core: str) -> object:
    from sglang.srt.mem_cache.unified_cache.component_type import ComponentType

    from reprise_sglang.hotness.component import HotFullComponent

    context = build_context(core)
    context.params.component_registry_override = {ComponentType.FULL: HotFullComponent}
    return context


def test_threshold_and_clock_are_the_operators():
    assert HotnessSettings.read({}) is None
    default = HotnessSettings.read({"REPRISE_EVICTION": "hotprefix"})
    assert (default.admission_frequency, default.max_age) == (10, 16)
    given = {"REPRISE_EVICTION": "hotprefix", "REPRISE_ADMISSION_FREQUENCY": "0", "REPRISE_MAX_AGE": "64"}
    settings = HotnessSettings.read(given)
    assert (settings.admission_frequency, settings.max_age) == (0, 64)
    with pytest.raises(HotnessSettingError, match="REPRISE_MAX_AGE is 'old', it must be a whole number"):
        HotnessSettings.read(given | {"REPRISE_MAX_AGE": "old"})


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (EVICTION_PRIORITY, 5 + 9 / 4),
        (ADMISSION_HOTNESS, 5 * 9),
        ("clock + freq / length", 9 + 5 / 4),
        ("frequency/length+clock", 5 / 4 + 9),
        ("clock / length / frequency", 9 / 4 / 5),
        ("clock / length * frequency", 9 / 4 * 5),
        ("clock + frequency + length", 18),
    ],
)
def test_a_formula_is_computed_with_plus_last(formula, value):
    assert parse_formula(formula)(9, 5, 4) == pytest.approx(value)


def test_what_is_divided_by_counts_as_one_at_least():
    assert parse_formula("frequency / clock")(0, 5, 4) == 5


@pytest.mark.parametrize("text", ["clock", "clock - frequency", "depth * clock", "clock + frequency * length / clock"])
def test_what_is_no_formula_ends_the_start(text):
    with pytest.raises(HotnessSettingError, match=r"REPRISE_HOTNESS: .* is no formula"):
        HotnessSettings.read({"REPRISE_EVICTION": "hotprefix", "REPRISE_HOTNESS": text})


def test_the_operators_formula_decides_who_is_evicted(build, monkeypatch):
    # the prefix unused for longest is evicted, however often it was used
    monkeypatch.setenv("REPRISE_EVICTION_PRIORITY", "clock + clock")
    monkeypatch.setattr("reprise_hotness.tracker.REQUESTS_PER_AGE", 1)
    served = build(pool_tokens=64)
    for question in range(4):
        served.serve(f"often-{question}", prompt(1, question))
    for i in range(6):
        served.serve(f"once-{i}", prompt(10 + i, 100 + i))
    assert served.cached_length(prompt(1, 0)) == 0
