"""With a host tier (HiCache), leaves leave the GPU in other ways. The copies need a GPU and are left out."""

import pytest
import torch
from mirror_double import MirrorDouble
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.registry import create_unified_radix_cache
from sglang.srt.mem_cache.unified_cache.cache_action import BackupKV

from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

FIRST, SECOND = list(range(8)), [*range(4), *range(100, 104)]
ALL = EvictParams(num_tokens=1 << 20)


class TieredCache:
    """A reporting cache whose tree accepts host copies, without a host pool for them."""

    def __init__(self, core: str) -> None:
        self.cache = create_unified_radix_cache(build_context(core), cache_class=ReportingRadixCache)
        self.cache.tree_core.set_hicache_enabled()
        self.mirror = MirrorDouble()
        self.cache.report_to(CacheReporter(self.mirror))
        self.scheduled = ScheduledCache(self.cache)
        self.requests = [self.scheduled.serve("r-1", FIRST), self.scheduled.serve("r-2", SECOND)]
        self.mirror.take_told()

    def back_up(self, node: int, write_back: bool = False) -> int:
        tokens = self.cache.tree_core.build_backup_spec(node)[0].numel()
        self.cache.tree_core.commit_backup(node, torch.arange(tokens), {})
        return tokens

    def back_up_everything(self) -> None:
        nodes = {info.node_id: info for req in self.requests for info in self._path(req.last_node)}
        for node in sorted(nodes, key=lambda node: nodes[node].path_start):
            self.back_up(node)

    def _path(self, node: int) -> tuple:
        return self.cache.tree_core.collect_path_info([node])[0]

    def assert_cut_one_by_one(self) -> None:
        """Each leaf is evicted separately, then the shared part."""
        assert self.mirror.take_told()[:2] == [("evicted", "r-1", 4), ("evicted", "r-2", 4)]
        assert self.mirror.lengths == {}
        assert self.scheduled.cached_length(FIRST) == self.scheduled.cached_length(SECOND) == 0


@pytest.fixture
def tiered(core: str) -> TieredCache:
    return TieredCache(core)


def test_a_node_that_only_the_host_still_has_is_evicted(tiered: TieredCache) -> None:
    tiered.back_up_everything()
    tiered.cache.evict(ALL)
    # the tree keeps the nodes for their host copies
    assert all(tiered.cache.tree_core.is_backuped(req.last_node) for req in tiered.requests)
    tiered.assert_cut_one_by_one()


def test_a_node_that_is_backed_up_when_it_is_evicted_is_evicted_once(
    tiered: TieredCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(action: BackupKV, write_back: bool = False) -> int:
        return sum(tiered.back_up(node) for node in action.node_ids)

    tiered.cache.is_write_back = True
    monkeypatch.setattr(tiered.cache, "_execute_and_commit_kv_backup", write)
    monkeypatch.setattr(tiered.cache, "writing_check", lambda write_back: None)
    tiered.cache.evict(ALL)
    assert all(tiered.cache.tree_core.is_backuped(req.last_node) for req in tiered.requests)
    tiered.assert_cut_one_by_one()


def test_a_node_that_the_host_has_no_room_for_is_evicted(tiered: TieredCache, monkeypatch: pytest.MonkeyPatch) -> None:
    tiered.cache.is_write_back = True
    monkeypatch.setattr(tiered.cache, "_execute_and_commit_kv_backup", lambda action, write_back: 0)
    tiered.cache.evict(ALL)
    tiered.assert_cut_one_by_one()


def test_a_request_that_fills_a_host_node_anew_is_stored(tiered: TieredCache) -> None:
    tiered.back_up_everything()
    tiered.cache.evict(ALL)
    tiered.scheduled.serve("r-3", FIRST)
    assert tiered.mirror.lengths == {"r-3": 8}
    assert tiered.scheduled.cached_length(FIRST) == 8
    tiered.cache.evict(ALL)
    assert tiered.mirror.lengths == {}
