"""SGLang's prefix cache with HotPrefix: counts uses, and keeps cold victims out of the host."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
from torch.distributed import get_world_size

from reprise_hotness.tracker import HotnessTracker
from reprise_sglang.hotness.component import HotFullComponent
from reprise_sglang.hotness.promotion import Limits, Promotion, plan_promotions
from reprise_sglang.hotness.settings import HotnessSettings
from reprise_sglang.reporting.cache_reporter import ROOT, Promoted
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache

logger = logging.getLogger(__name__)


class HotRadixCache(ReportingRadixCache):
    """
    Counts a request once for each prefix on its path: the prompt's prefixes after prefill, the rest when the request
    ends.

    Prefixes are identified by their tokens, not by nodes, so an evicted prefix comes back with its old heat.
    """

    settings = HotnessSettings()
    _has_ended = False
    _has_prefilled = False
    _promotion_slot = -1
    """index in SGLang's layer counters that tracks the copies of the last promotion"""
    _promoted: frozenset[int] = frozenset()
    """nodes whose copies were unfinished when SGLang last checked"""

    def configure(self, settings: HotnessSettings) -> None:
        """Call before the first request."""
        self.settings = settings
        tracker = HotnessTracker(priority=settings.priority, hotness=settings.hotness, max_age=settings.max_age)
        self.hot_component.configure(tracker, promotes=settings.promotion_tokens > 0)

    @property
    def hot_component(self) -> HotFullComponent:
        """The component that chooses victims."""
        return self.tree_core.components[0]

    def checkpoint(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().checkpoint(req, *arguments, **named)
        # between chunks of its prompt, a request is not at the end of its prompt yet
        if req.output_ids and isinstance(req.last_node, int):
            self._or_end(self._use, req)
        return result

    def on_release(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().on_release(req, *arguments, **named)
        req.reprise_used = None
        return result

    def check_hicache_events(self) -> None:
        """SGLang calls this once per step, before it chooses what to compute next."""
        super().check_hicache_events()
        self._promoted = frozenset(node for node in self._promoted if node in self.ongoing_load_back)
        if self._has_prefilled and self.settings.promotion_tokens > 0 and self._is_link_idle():
            self._has_prefilled = False
            self._promote(self._or_end(self._plan) or ())

    def ready_to_load_host_cache(self) -> int:
        """
        Returns the layer counter of the copies that the next prefill waits for, layer by layer.

        A prefill waits for its own copies, which come after those of a promotion. Without any, it waits for a promotion
        that may be unfinished: its prompt may follow promoted nodes.
        """
        slot = super().ready_to_load_host_cache()
        return self._promotion_slot if slot < 0 and self._promoted else slot

    def reset(self) -> None:
        super().reset()
        self._promoted, self._promotion_slot, self._has_prefilled = frozenset(), -1, False

    def _execute_and_commit_kv_backup(self, action: Any, write_back: bool = False) -> int:
        # if a node cannot be written, SGLang drops it and its descendants on the host
        if write_back and self._or_end(self._is_admitted, action.node_ids[-1]) is False:
            return 0
        return super()._execute_and_commit_kv_backup(action, write_back)

    def _or_end(self, do: Callable[..., Any], *arguments: Any) -> Any:
        """
        Runs our code inside the engine. After a fault nothing more is counted, promoted or refused: returns None.

        With several ranks it raises the fault: a rank that counts less than the others evicts other nodes than they do.
        """
        if not self._has_ended:
            try:
                return do(*arguments)
            except Exception:
                if any(group is not None and get_world_size(group) > 1 for group in self._rank_groups):
                    raise
                self._has_ended = True
                logger.exception("reprise: what is asked for is not counted any more; nodes go by their last use")
                self.hot_component.end()
        return None

    def _use(self, req: Any) -> None:
        seen = getattr(req, "reprise_used", None)
        end = 0
        for node, prefix in self._prefixes(req.last_node):
            start, end = end, end + len(node.key)
            if seen is None or start >= seen:
                self.hot_component.use(node, prefix)
        if seen is None:
            self.hot_component.pass_request()
            self._has_prefilled = True
        req.reprise_used = end

    def _prefixes(self, node_id: int) -> Iterator[tuple[Any, bytes]]:
        """Yields the nodes from the root to this one, each with a digest of the tokens up to its end."""
        path = []
        node = self.tree_core.node_by_id(node_id)
        while node.parent is not None:
            path.append(node)
            node = node.parent
        digest = hashlib.blake2b(digest_size=16)
        if path:
            digest.update(repr((path[-1].key.extra_key, path[-1].key.cache_salt)).encode())
        for node in reversed(path):
            digest.update(bytes(memoryview(node.key.token_ids)[: len(node.key)]))
            yield node, digest.digest()

    def _is_admitted(self, node_id: int) -> bool:
        """HotPrefix §3.3.2: admits nodes used often and, if the host is full, hotter than its coldest leaf."""
        component = self.hot_component
        node = self.tree_core.node_by_id(node_id)
        if component.heat_of(node).frequency < self.settings.admission_frequency:
            return False
        controller, tokens = self.cache_controller, len(node.component_data[ComponentType.FULL].value)
        if controller is None or controller.mem_pool_host.available_size() >= tokens:
            return True
        coldest = min(map(component.hotness_of, self.tree_core.evictable_host_leaves), default=0)
        return component.hotness_of(node) > coldest

    def _is_link_idle(self) -> bool:
        """No copy to the GPU is under way, so two of SGLang's three counters stay for batches. Same on all ranks."""
        controller = self.cache_controller
        return controller is not None and not controller.load_queue and not controller.ack_load_queue

    @property
    def _rank_groups(self) -> tuple[Any, ...]:
        return self.tp_group, self.attn_cp_group, self.pp_group

    def _plan(self) -> list[Promotion]:
        component = self.hot_component
        free = self._free_tokens()
        # nodes cannot be evicted while they are copied: leave at least as much to running requests
        most = min(self.settings.promotion_tokens, (free + self.full_evictable_size()) // 2)
        limits = Limits(most, max(1, self.load_back_threshold), free)
        return plan_promotions(component.host, component.leaves, component.hotness_of, limits)

    def _promote(self, plan: Sequence[Promotion]) -> None:
        """
        HotPrefix §3.4: one operation makes all copies of a plan, in parallel with decoding.

        A fault here ends the engine, which would otherwise read rows that were never copied.
        """
        promoted = frozenset(promotion.node.id for promotion in plan if self._bring_up(promotion))
        if promoted:
            self._promoted = promoted
            self._promotion_slot = self.cache_controller.start_loading()
        if self._reporter:
            self._reporter.guard(self._reporter.flush)

    def _bring_up(self, promotion: Promotion) -> bool:
        """Evicts the leaves in a node's way and copies it to the GPU. Returns whether the copy was started."""
        component, (node, leaves) = self.hot_component, promotion
        for leaf in leaves:
            self._discard(leaf.id)
            component.leaves.put_back(leaf)
        tokens = len(node.key)
        if self._free_tokens() < tokens or not self.load_back(node.id):
            component.host.put(node)
            return False
        self._observe(self._see_promoted, node.id)
        return True

    def _see_evicted(self, leaf: Any, tracker: dict[Any, int]) -> None:
        fact = leaf.fact
        node = self.tree_core._node_arena.get(fact.node)
        stays = self.hot_component.host is not None and node is not None and node.backuped
        super()._see_evicted(leaf._replace(fact=fact._replace(stays=stays)), tracker)

    def _see_promoted(self, node_id: int) -> None:
        path = self._path_to(node_id)
        parent = path[-2].node_id if len(path) > 1 else ROOT
        self._reporter.tell(Promoted(node_id, parent, path[-1].path_end))

    def _discard(self, leaf: int) -> None:
        """Evicts a cold leaf without copying it; if the host already has it, it stays there."""
        tracker = dict.fromkeys(self.tree_components, 0)
        if self._evict_device_leaf(leaf, tracker) is not None:
            self._drop_subtree_no_host(leaf, tracker)

    def _free_tokens(self) -> int:
        return self.token_to_kv_pool_allocator.available_size()
