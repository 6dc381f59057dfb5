"""SGLang's prefix cache with HotPrefix: uses are counted here, and cold victims do not go to the host."""

import hashlib
from collections.abc import Iterator
from typing import Any

from sglang.srt.mem_cache.unified_cache.component_type import ComponentType

from reprise_sglang.hotness.component import HotFullComponent
from reprise_sglang.hotness.settings import DEFAULT_ADMISSION
from reprise_sglang.reporting_radix_cache import ReportingRadixCache


class HotRadixCache(ReportingRadixCache):
    """
    Counts a request once for each prefix of its path: the prompt's when it is computed, the rest when it ends.

    Prefixes are known by their tokens, whatever nodes hold them, so that a prefix that was evicted is as hot as it was
    when it comes back.
    """

    admission_frequency = DEFAULT_ADMISSION
    admitted_tokens = 0
    rejected_tokens = 0

    @property
    def hot_component(self) -> HotFullComponent:
        """Where victims are chosen."""
        return self.tree_core.components[0]

    def checkpoint(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().checkpoint(req, *arguments, **named)
        # in a chunk of its prompt it is not at its end yet
        if req.output_ids and isinstance(req.last_node, int):
            self._use(req)
        return result

    def on_release(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().on_release(req, *arguments, **named)
        req.reprise_used = None
        return result

    def _execute_and_commit_kv_backup(self, action: Any, write_back: bool = False) -> int:
        # SGLang drops what cannot be written, and what hangs on it on the host
        if write_back and not self._is_admitted(action.node_ids[-1]):
            return 0
        return super()._execute_and_commit_kv_backup(action, write_back)

    def _use(self, req: Any) -> None:
        seen = getattr(req, "reprise_used", None)
        end = 0
        for node, prefix in self._prefixes(req.last_node):
            start, end = end, end + len(node.key)
            if seen is None or start >= seen:
                self.hot_component.use(node, prefix)
        if seen is None:
            self.hot_component.pass_request()
        req.reprise_used = end

    def _prefixes(self, node_id: int) -> Iterator[tuple[Any, bytes]]:
        """The nodes from the root to this one, each with a digest of the tokens up to its end."""
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
        """HotPrefix §3.3.2: what is asked for often and, where there is no room, is hotter than the coldest there."""
        component = self.hot_component
        node = self.tree_core.node_by_id(node_id)
        heat = component.heat_of(node)
        tokens = len(node.component_data[ComponentType.FULL].value)
        is_admitted = heat.frequency >= self.admission_frequency and (
            self._has_host_room(tokens) or self._is_hotter_than_host(heat)
        )
        self.admitted_tokens += tokens if is_admitted else 0
        self.rejected_tokens += 0 if is_admitted else tokens
        return is_admitted

    def _has_host_room(self, tokens: int) -> bool:
        return self.cache_controller is None or self.cache_controller.mem_pool_host.available_size() >= tokens

    def _is_hotter_than_host(self, heat: Any) -> bool:
        component, leaves = self.hot_component, self.tree_core.evictable_host_leaves
        coldest = min((component.tracker.hotness(component.heat_of(leaf)) for leaf in leaves), default=0)
        return component.tracker.hotness(heat) > coldest
