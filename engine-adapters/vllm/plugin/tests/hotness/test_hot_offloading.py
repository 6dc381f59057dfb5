"""Selective admission to the host, in vLLM's own manager of offloaded chunks, created by its own factory."""

import random
from pathlib import Path

import pytest
from engine_config import full_attention, make_config
from hypothesis import given, settings
from hypothesis import strategies as st
from vllm.distributed.kv_transfer.kv_connector.v1.offloading.config import build_offloading_config
from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec, KVCacheTensor
from vllm.v1.kv_offload.base import OffloadKey, ReqContext, make_offload_key
from vllm.v1.kv_offload.cpu.manager import CPUOffloadingManager
from vllm.v1.kv_offload.cpu.policies.factory import CachePolicyFactory
from vllm.v1.kv_offload.cpu.spec import CPUOffloadingSpec
from vllm.v1.kv_offload.factory import OffloadingSpecFactory

from reprise_vllm.hotness import offloading
from reprise_vllm.hotness.offloading import AdmissionSettingError, HotOffloadingManager, HotOffloadingSpec

EXTRA = {"spec_name": "HotOffloadingSpec", "spec_module_path": offloading.__name__}


def key(number: int) -> OffloadKey:
    return make_offload_key(number.to_bytes(32, "big"), 0)


class Host:
    """A manager, with requests that offer chunks to it as vLLM's connector does."""

    def __init__(self, manager: CPUOffloadingManager) -> None:
        self.manager = manager
        self._requests = 0

    def serve(self, *numbers: int) -> list[int] | None:
        """Returns which chunks are copied to the host, or None if there is no room."""
        self._requests += 1
        context = ReqContext(req_id=f"r-{self._requests}")
        self.manager.on_new_request(context)
        output = self.manager.prepare_store([key(number) for number in numbers], context)
        stored = None
        if output is not None:
            self.manager.complete_store(output.keys_to_store, context)
            stored = [int.from_bytes(one[:32], "big") for one in output.keys_to_store]
        self.manager.on_request_finished(context)
        return stored

    def holds(self, *numbers: int) -> list[bool]:
        context = ReqContext(req_id="probe")
        return [self.manager.lookup(key(number), context).name == "HIT" for number in numbers]


def test_vllm_finds_it_by_its_name_and_module():
    assert OffloadingSpecFactory.get_spec_cls(EXTRA) is HotOffloadingSpec
    assert CachePolicyFactory.get_cache_policy_cls("HotCachePolicy", offloading.__name__) is offloading.HotCachePolicy


def test_its_manager_publishes_the_facts_that_vllms_own_does(folder: Path) -> None:
    extra = {**EXTRA, "cpu_bytes_to_use": 1 << 24, "admission_frequency": 3}
    config = make_config(folder, {"kv_connector": "OffloadingConnector", "kv_role": "kv_both",
                                  "kv_connector_extra_config": extra})  # fmt: skip
    page = full_attention().page_size_bytes
    tensor = KVCacheTensor(21 * page, ["layer.0"], layer_stride=21 * page, block_stride=page)
    cache = KVCacheConfig(21, [tensor], [KVCacheGroupSpec(["layer.0"], full_attention())])
    ours, stock = (
        make(build_offloading_config(config, cache)) for make in (OffloadingSpecFactory.create_spec, CPUOffloadingSpec)
    )
    manager = ours.get_manager()
    assert (type(manager), manager._admission, ours.get_manager()) == (HotOffloadingManager, 3, manager)
    # vLLM 0.32 publishes none
    if hasattr(manager, "config_info"):
        assert list(manager.config_info()[0].values())
        assert manager.config_info() == stock.get_manager().config_info()


def test_only_what_was_asked_for_often_goes_to_the_host():
    host = Host(HotOffloadingManager(8, admission=3))
    assert [host.serve(1, 2), host.serve(1, 3), host.serve(1, 4), host.serve(1, 5)] == [[], [], [1], []]
    assert host.holds(1, 2, 3) == [True, False, False]


def test_without_a_threshold_all_goes_there():
    host = Host(HotOffloadingManager(2, admission=0))
    assert [host.serve(1, 2), host.serve(3, 4)] == [[1, 2], [3, 4]]


def test_where_there_is_no_room_it_has_to_be_hotter_than_the_coldest():
    host = Host(HotOffloadingManager(2, admission=2))
    for number in (1, 1, 1, 1, 2, 2, 2):
        host.serve(number)
    host.serve(3)
    # requested as often as the threshold demands, but colder than both
    assert host.serve(3) == []
    assert host.holds(1, 2, 3) == [True, True, False]
    host.serve(3)
    assert host.serve(3) == [3]
    assert host.holds(1, 2, 3) == [True, False, True]


def test_a_chunk_whose_count_was_dropped_can_still_be_evicted():
    manager = HotOffloadingManager(2, admission=0)
    host, policy = Host(manager), manager._policy
    policy.tracker._capacity = 4
    host.serve(1, 2)
    # two generations of others push out the counts of both, within one age
    for number in range(10, 18):
        policy.tracker.use(key(number))
    assert policy.uses_of(key(1)) == 0
    assert host.serve(3) == [3]


@pytest.mark.parametrize(("name", "default"), [("admission_frequency", 10), ("max_age", 16)])
def test_threshold_and_age_are_the_operators(name, default):
    assert offloading.read_count({}, name, default) == default
    assert offloading.read_count({name: 0}, name, default) == 0
    with pytest.raises(AdmissionSettingError, match=f"{name} is 'often'"):
        offloading.read_count({name: "often"}, name, default)


@pytest.mark.parametrize(("max_age", "kept"), [(16, [True, False]), (4, [False, True])])
def test_what_was_hot_is_kept_as_long_as_its_clock_runs(max_age, kept):
    host = Host(offloading.HotOffloadingManager(1, 1, max_age))
    for _ in range(4):
        host.serve(1)
    for _ in range(64):
        host.serve()
    host.serve(2)
    assert host.holds(1, 2) == kept


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), capacity=st.integers(1, 12), admission=st.integers(0, 3))
def test_vllms_counts_hold_and_what_goes_is_the_coldest(seed, capacity, admission):
    host = Host(HotOffloadingManager(capacity, admission))
    chance = random.Random(seed)
    manager, policy = host.manager, host.manager._policy
    for _ in range(120):
        before = {one: (policy.hotness_of(one), policy._order._entries[one]) for one in policy._chunks}
        asked = chance.sample(range(16), chance.randrange(1, 4))
        host.serve(*asked)
        gone = before.keys() - policy._chunks.keys()
        kept = (before.keys() & policy._chunks.keys()) - {key(number) for number in asked}
        if gone and kept:
            assert max(before[one] for one in gone) <= max(before[one] for one in kept)
        assert len(policy._chunks) + manager._get_num_free_chunks() == capacity
        assert manager._num_evictable_cache_chunks == len(policy._evictable) == len(policy._chunks)
        assert len({chunk.chunk_id for chunk in policy._chunks.values()}) == len(policy._chunks)
    manager.reset_cache()
    assert manager._get_num_free_chunks() == capacity
