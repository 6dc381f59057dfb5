"""
Selective admission to vLLM's host cache (HotPrefix §3.3.2), through vLLM's own extension point for offloading.

Set `"spec_name": "HotOffloadingSpec", "spec_module_path": "reprise_vllm.hotness.offloading"` in the extra configuration
of vLLM's OffloadingConnector.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from vllm.v1.kv_offload.base import OffloadingManager, OffloadKey, PrepareStoreOutput, ReqContext
from vllm.v1.kv_offload.cpu.manager import CPUOffloadingManager
from vllm.v1.kv_offload.cpu.policies.base import CachePolicy, ChunkStatus
from vllm.v1.kv_offload.cpu.spec import CPUOffloadingSpec

from reprise_hotness import DEFAULT_ADMISSION
from reprise_hotness.heat_order import HeatOrder
from reprise_hotness.tracker import MAX_AGE, Heat, HotnessTracker
from reprise_settings import SettingPlace

ADMISSION = "admission_frequency"
AGE = "max_age"


class AdmissionSettingError(ValueError):
    """An invalid setting; the message says what is valid."""


_PLACE = SettingPlace("kv_connector_extra_config", AdmissionSettingError, '{"admission_frequency": 2}')


def read_count(extra: Any, name: str, default: int) -> int:
    """Returns a setting: how often a chunk must be requested to go to the host (`ADMISSION`), or the clock of a chunk
    just requested (`AGE`). Raises `AdmissionSettingError` if invalid.
    """
    given = extra.get(name, default)
    _PLACE.check_whole(name, given, 0)
    return given


class HotOffloadingSpec(CPUOffloadingSpec):
    """vLLM's host cache, but it admits only chunks requested often and evicts the coldest."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._admission = read_count(self.extra_config, ADMISSION, DEFAULT_ADMISSION)
        self._max_age = read_count(self.extra_config, AGE, MAX_AGE)

    def get_manager(self) -> OffloadingManager:
        if not self._manager:
            events = self.kv_events_config.enable_kv_cache_events
            # vLLM 0.33 publishes these facts as a metric's labels
            info = {"info": self.cpu_info} if hasattr(self, "cpu_info") else {}
            self._manager = HotOffloadingManager(
                self.num_chunks, self._admission, self._max_age, enable_events=events, **info
            )
        return self._manager


class HotOffloadingManager(CPUOffloadingManager):
    """Admits chunks requested often; if there is no room, only those hotter than the coldest chunks (Equation 6)."""

    def __init__(
        self, num_chunks: int, admission: int, max_age: int = MAX_AGE, **options: Any
    ) -> None:  # fmt: skip
        super().__init__(num_chunks, HotCachePolicy.__name__, __name__, **options)
        self._admission = admission
        self._policy.tracker.max_age = max_age

    def prepare_store(self, keys: Collection[OffloadKey], req_context: ReqContext) -> PrepareStoreOutput | None:
        policy: HotCachePolicy = self._policy
        policy.ask(keys, req_context)
        there = {key for key in keys if policy.get(key) is not None}
        wanted = [key for key in keys if key not in there and policy.uses_of(key) >= self._admission]
        room = self._get_num_free_chunks()
        hotter = set(wanted[:room])
        # a request's own chunks do not evict each other
        going = policy.coldest(len(wanted) - room, set(keys)) if len(wanted) > room else []
        for key, other in zip(wanted[room:], going, strict=False):
            if self._admission == 0 or policy.hotness_of(key) > policy.hotness_of(other):
                hotter.add(key)
        admitted = [key for key in keys if key in there or key in hotter]
        return super().prepare_store(admitted, req_context)


class _Asked(set[OffloadKey]):
    """The chunks a request was counted for."""


class HotCachePolicy(CachePolicy):
    """Evicts the coldest chunk that nobody reads or writes, by frequency * clock, then recency."""

    def __init__(self, cache_capacity: int) -> None:
        super().__init__(cache_capacity)
        self.tracker = HotnessTracker(max(65_536, 4 * cache_capacity))
        self._chunks: dict[OffloadKey, ChunkStatus] = {}
        self._heats: dict[OffloadKey, Heat] = {}
        """of the chunks that are there"""
        self._evictable: set[OffloadKey] = set()
        self._order = HeatOrder(self.hotness_of, self._evictable.__contains__, name_of=lambda key: key)

    def ask(self, keys: Iterable[OffloadKey], req_context: ReqContext) -> None:
        """Counts the chunks a request needs, each once per request."""
        asked = req_context.get_state(_Asked)
        if asked is None:
            asked = _Asked()
            req_context.set_state(asked)
            if self.tracker.pass_request():
                self._order.rekey(self._evictable)
        for key in keys:
            if key in asked:
                continue
            asked.add(key)
            heat = self.tracker.use(key, self._heats.get(key))
            if key in self._chunks:
                self._heats[key] = heat
                self._reorder(key)

    def uses_of(self, key: OffloadKey) -> int:
        return self.tracker.heat_of(key).frequency

    def hotness_of(self, key: OffloadKey) -> float:
        """Equation 6. A chunk's length is that of all others."""
        return self.tracker.hotness(self._heats.get(key) or self.tracker.heat_of(key), 1)

    def coldest(self, most: int, protected: set[OffloadKey]) -> list[OffloadKey]:
        """Returns at most `most` evictable chunks, coldest first."""
        return self._order.first(most, protected)

    def get(self, key: OffloadKey) -> ChunkStatus | None:
        return self._chunks.get(key)

    def insert(self, key: OffloadKey, chunk: ChunkStatus, *_request: ReqContext) -> None:
        # vLLM 0.33 also says whose chunk it is, 0.32 does not
        self._chunks[key] = chunk
        self._heats[key] = self.tracker.heat_of(key)
        if chunk.ref_cnt == 0:
            self.mark_evictable(key)

    def remove(self, key: OffloadKey) -> None:
        del self._chunks[key], self._heats[key]
        self._evictable.discard(key)

    def touch(self, keys: Iterable[OffloadKey], req_context: ReqContext) -> None:
        self.ask(keys, req_context)

    def on_store_miss(self, keys: Iterable[OffloadKey], req_context: ReqContext) -> None:
        # already counted in `prepare_store`
        return

    def on_request_finished(
        self,
        key_groups: Sequence[Sequence[OffloadKey]],
        insertion_only_keys: set[OffloadKey],
        reused_keys: set[OffloadKey],
        req_context: ReqContext,
    ) -> None:
        for keys in key_groups:
            self.ask(keys, req_context)

    def evict(self, n: int, protected: set[OffloadKey]) -> list[tuple[OffloadKey, ChunkStatus]] | None:
        going = self.coldest(n, protected)
        if len(going) < n:
            return None
        evicted = [(key, self._chunks[key]) for key in going]
        for key in going:
            self.remove(key)
        return evicted

    def clear(self) -> None:
        self._chunks.clear()
        self._heats.clear()
        self._evictable.clear()
        self._order.rekey(())

    def mark_evictable(self, key: OffloadKey) -> None:
        self._evictable.add(key)
        self._reorder(key)

    def mark_non_evictable(self, key: OffloadKey) -> None:
        self._evictable.discard(key)

    def _reorder(self, key: OffloadKey) -> None:
        if key in self._evictable:
            self._order.put(key)
