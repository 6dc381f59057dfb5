"""SGLang's own prefix cache, observed. Observation never changes its behaviour."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sglang.srt.mem_cache.unified_radix_cache import BASE_COMPONENT_TYPE, UnifiedRadixCache

from reprise_sglang.reporting.cache_reporter import ROOT, Anchored, CacheReporter, Evicted
from reprise_sglang.reporting.found_lengths import FoundLengths

_HEALTH_CHECK = "HEALTH_CHECK"


class ReportingRadixCache(UnifiedRadixCache):
    """
    Reports where each request's cached prefix ends and which nodes are evicted. Works with both tree cores.

    Nodes are looked up when something happens to them, because other requests may split them any time.
    """

    _reporter: CacheReporter | None = None
    _seen_evicted = 0
    _found: FoundLengths | None = None

    def report_to(self, reporter: CacheReporter) -> None:
        """Starts reporting. Whatever is already cached stays unreported."""
        self._reporter = reporter
        self._found = FoundLengths.of(self)

    def checkpoint(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().checkpoint(req, *arguments, **named)
        self._observe(self._see_request, req)
        self._observe(self._see_changed_lengths)
        return result

    def on_release(self, req: Any, *arguments: Any, **named: Any) -> Any:
        result = super().on_release(req, *arguments, **named)
        if not named.get("checkpointed", False):
            self._observe(self._see_given_up, req)
        return result

    def reset(self) -> None:
        super().reset()
        if self._reporter:
            if self._found:
                self._found.clear()
            self._reporter.guard(self._reporter.cleared)

    def evict(self, *arguments: Any, **named: Any) -> Any:
        return self._evict_by(super().evict, *arguments, **named)

    def evict_for_alloc(self, *arguments: Any, **named: Any) -> Any:
        return self._evict_by(super().evict_for_alloc, *arguments, **named)

    def _evict_by(self, evict: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        seen_before = self._seen_evicted
        result = evict(*arguments, **named)
        self._observe(self._see_all_evicted, result, seen_before)
        return result

    def _evict_device_leaf(self, node_id: int, tracker: dict[Any, int]) -> Any:
        # if a backup has to come first, the node is demoted or dropped later
        return self._remove_by(super()._evict_device_leaf, node_id, tracker, lambda backup: backup is None)

    def _demote(self, node_id: int, tracker: dict[Any, int]) -> Any:
        return self._remove_by(super()._demote, node_id, tracker, lambda _: True)

    def _drop_subtree_no_host(self, node_id: int, tracker: dict[Any, int]) -> Any:
        return self._remove_by(super()._drop_subtree_no_host, node_id, tracker, bool)

    def _remove_by(
        self, remove: Callable[..., Any], node_id: int, tracker: dict[Any, int], is_removed: Callable[[Any], bool]
    ) -> Any:
        leaf = self._observe(self._look_at, node_id, tracker)
        result = remove(node_id, tracker)
        if is_removed(result):
            self._observe(self._see_evicted, leaf, tracker)
        return result

    def _observe(self, see: Callable[..., Any], *arguments: Any) -> Any:
        return self._reporter.guard(see, *arguments) if self._reporter else None

    def _see_request(self, req: Any, *, runs_again: bool = False) -> None:
        # a streaming session keeps its KV outside the tree, so it has no node; SGLang's own health probes are nobody's
        if not isinstance(req.last_node, int) or not isinstance(req.rid, str) or req.rid.startswith(_HEALTH_CHECK):
            return
        try:
            path = self._path_to(req.last_node)
        except KeyError:
            path = ()
        tokens = path[-1].path_end if path else ROOT
        # a report of zero tokens makes reprise forget a request: skip it if the request will run, and be reported,
        # again
        if tokens != ROOT or not runs_again:
            lengths = self._found.tell(path) if self._found else None
            self._reporter.tell(Anchored(req.rid, req.last_node, tokens, lengths))
            self._reporter.flush()

    def _see_given_up(self, req: Any) -> None:
        """The request was aborted or retracted: what it had matched and what its earlier chunks left is cached."""
        self._see_request(req, runs_again=not req.finished())

    def _look_at(self, node_id: int, tracker: dict[Any, int]) -> "_Leaf":
        """Call while the tree still knows the node."""
        path = self._path_to(node_id)
        parent, tokens = (path[-2].node_id, path[-2].path_end) if len(path) > 1 else (ROOT, ROOT)
        return _Leaf(Evicted(node_id, parent, tokens), tracker[BASE_COMPONENT_TYPE])

    def _see_evicted(self, leaf: "_Leaf", tracker: dict[Any, int]) -> None:
        self._seen_evicted += tracker[BASE_COMPONENT_TYPE] - leaf.evicted_before
        if self._found:
            self._found.left(leaf.fact.node, leaf.fact.parent)
        self._reporter.tell(leaf.fact)

    def _see_all_evicted(self, result: Any, seen_before: int) -> None:
        """Checks the count: if SGLang no longer calls a private method, reprise would miss evictions."""
        if self._found and (result.mamba_num_evicted or result.swa_num_tokens_evicted):
            self._found.lose()
            self._see_changed_lengths()
        self._reporter.flush()
        seen = self._seen_evicted - seen_before
        if result.num_tokens_evicted != seen:
            self._reporter.stop(
                f"{result.num_tokens_evicted} tokens were evicted and {seen} were seen to be: this SGLang evicts "
                "in a way that is unknown here"
            )

    def _see_changed_lengths(self) -> None:
        if self._found:
            for fact in self._found.take_changed():
                self._reporter.tell(fact)
            self._reporter.flush()

    def _path_to(self, node_id: int) -> Any:
        return self.tree_core.collect_path_info([node_id])[0]


class _Leaf(NamedTuple):
    fact: Evicted
    evicted_before: int
