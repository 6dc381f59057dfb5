"""At which lengths of a cached prefix other requests find it, in models with sliding windows or states."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from sglang.srt.mem_cache.unified_cache.component_type import ComponentType

from reprise_sglang.reporting.cache_reporter import ROOT, Lengths, Refound


class FoundLengths:
    """
    Follows what SGLang keeps beside full attention, and says what has changed for requests since they were told.

    Windows: a prefix is found where the window in front of its end is kept, up to a node that has lost it. States: a
    prefix is found only at the end of a node that keeps one.

    SGLang does not say which nodes lose a window or a state, and splits nodes unseen. So after a loss, the nodes at
    which requests end are all read once more: a few at a time, in at most a fiftieth of the engine's time. Until then,
    reprise believes what it was told before.
    """

    most_share = 0.02
    slice_seconds = 0.002
    _PATHS_AT_ONCE = 16

    def __init__(self, cache: Any, now: Callable[[], float] = time.monotonic) -> None:
        self._cache = cache
        self._now = now
        self._parts = {ComponentType.SWA, ComponentType.MAMBA}.intersection(cache.tree_components)
        self._window = cache.swa_retain_window if ComponentType.SWA in self._parts else None
        self._has_states = ComponentType.MAMBA in self._parts
        self._told: dict[int, Lengths] = {}
        """by node: the lengths that end in it"""
        self._ends: set[int] = set()
        """nodes at which requests end, of which something can be lost"""
        self._is_stale = False
        self._unread: list[int] = []
        """nodes at which requests end that are still to be read in this pass"""
        self._read: dict[int, Lengths] = {}
        """in this pass, like `_told`"""
        self._next = 0.0

    @classmethod
    def of(cls, cache: Any) -> "FoundLengths | None":
        """Returns None for a model with full attention only: each prefix is found at every length."""
        found = cls(cache)
        return found if found._parts else None

    def clear(self) -> None:
        self._told.clear()
        self._ends.clear()
        self._is_stale = False
        self._unread.clear()

    def tell(self, path: Any) -> Lengths:
        """Returns the lengths at which the prefix up to the end of a path is found, which is told now."""
        kept: dict[tuple[int, Any], bool] = {}
        by_node = self._lengths_of(path, kept)
        # where a request brought a window back, prompts that part from it there are found again, too
        self._is_stale |= any(_is_more(own, self._told[node]) for node, own in by_node.items() if node in self._told)
        self._told.update(by_node)
        self._read.update(by_node)
        if any(kept.values()):
            self._ends.add(path[-1].node_id)
        return self._join(by_node)

    def left(self, node: int, parent: int) -> None:
        """A node is no longer cached: the requests that ended there now end at its parent."""
        self._told.pop(node, None)
        self._read.pop(node, None)
        if node in self._ends:
            self._ends.discard(node)
            if parent != ROOT:
                self._ends.add(parent)
                if self._unread:
                    self._unread.append(parent)

    def lose(self) -> None:
        """Windows or states were evicted."""
        self._is_stale = True

    def take_changed(self) -> Iterator[Refound]:
        """Yields what is found at other lengths than was told, of the nodes that it is time to read again."""
        began = self._now()
        if began < self._next:
            return
        if self._is_stale and not self._unread:
            self._is_stale = False
            self._unread, self._read = list(self._ends), {}
        if not self._unread:
            return
        kept: dict[tuple[int, Any], bool] = {}
        is_time = True
        while self._unread and is_time:
            ends = [node for node in self._unread[-self._PATHS_AT_ONCE :] if node in self._ends]
            del self._unread[-self._PATHS_AT_ONCE :]
            for path in self._cache.tree_core.collect_path_info(ends):
                yield from self._read_again(path, kept)
            is_time = self._now() < began + self.slice_seconds
        if not self._unread:
            # not before: each of those that share a change is to be told of it
            self._told.update(self._read)
        now = self._now()
        self._next = now + (now - began) / self.most_share

    def _read_again(self, path: Any, kept: dict[tuple[int, Any], bool]) -> Iterator[Refound]:
        by_node = self._lengths_of(path, kept)
        self._read.update(by_node)
        changed = tuple(node for node, own in by_node.items() if self._told.get(node) != own)
        if changed:
            yield Refound(path[-1].node_id, self._join(by_node), changed)
        # what keeps a part of a window may be found again, once another request brings back what is in front of it
        if not any(self._keeps(node, part, kept) for node in by_node for part in self._parts):
            self._ends.discard(path[-1].node_id)

    def _lengths_of(self, path: Any, kept: dict[tuple[int, Any], bool]) -> dict[int, Lengths]:
        """Returns the lengths that end in each node. `kept`: filled with what nodes keep."""
        by_node: dict[int, Lengths] = {}
        page = self._cache.page_size
        begin: int | None = 0
        for node in path:
            first, last = node.path_start + page, node.path_end
            if self._window is not None:
                if not self._keeps(node.node_id, ComponentType.SWA, kept):
                    begin = None
                elif begin is None:
                    begin = node.path_start
                if begin is None:
                    first = last + 1
                elif begin > 0:
                    first = max(first, -(-(begin + self._window) // page) * page)
            if self._has_states:
                first = max(first, last) if self._keeps(node.node_id, ComponentType.MAMBA, kept) else last + 1
            by_node[node.node_id] = ((first, last),) if first <= last else ()
        return by_node

    def _join(self, by_node: dict[int, Lengths]) -> Lengths:
        joined: list[tuple[int, int]] = []
        for first, last in (length for own in by_node.values() for length in own):
            if joined and first <= joined[-1][1] + self._cache.page_size:
                joined[-1] = joined[-1][0], last
            else:
                joined.append((first, last))
        return tuple(joined)

    def _keeps(self, node: int, part: Any, kept: dict[tuple[int, Any], bool]) -> bool:
        known = kept.get((node, part))
        if known is None:
            known = self._cache.tree_core.get_component_device_value(node, part) is not None
            kept[node, part] = known
        return known


def _is_more(lengths: Lengths, told: Lengths) -> bool:
    """Whether a node has lengths that it had not: a split takes only some away."""
    return bool(lengths) and (not told or lengths[0][0] < told[0][0])
