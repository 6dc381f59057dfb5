"""Hooks into SGLang, by its own registry: where reuse starts, what a forward computes, and what its cache may keep."""

import logging
from collections.abc import Callable
from itertools import chain
from pkgutil import resolve_name
from typing import Any

from reprise_settings.reuse_settings import ReuseSettingError
from reprise_sglang.reuse.row_attention import EXTENDED, extend_new_rows
from reprise_sglang.reuse.settings import read_settings
from reprise_sglang.reuse.usage import DETAILS, asked_of, with_figures

logger = logging.getLogger(__name__)

PLANNED = "sglang.srt.managers.scheduler.Scheduler._get_new_batch_prefill_raw"
STARTED = "sglang.srt.managers.scheduler.Scheduler.init_model_worker"
BATCH = "sglang.srt.model_executor.forward_batch_info.ForwardBatch.init_new"
COMPUTED = "sglang.srt.managers.tp_worker.TpModelWorker.forward_batch_generation"
KEPT = "sglang.srt.mem_cache.unified_radix_cache.UnifiedRadixCache.checkpoint"
EMPTIED = "sglang.srt.mem_cache.unified_radix_cache.UnifiedRadixCache.reset"
REUSER = "reprise_reuser"
"""attribute of SGLang's model runner: what reuses in it"""


class ReuseHooks:
    """The hooks of a scheduler's process. A fault in our code ends reuse, not the engine."""

    def __init__(self) -> None:
        self._runner: Any = None
        self._scheduler: Any = None
        self._is_cache_checked = False
        self._targets: list[str] = []

    @property
    def _reuser(self) -> Any:
        return getattr(self._runner, REUSER, None)

    def register(self) -> None:
        """Call while plugins are loaded."""
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType

        hooks = {
            STARTED: (self.started, HookType.AFTER),
            PLANNED: (self.plan_prefill, HookType.AROUND),
            BATCH: (self.before_forward, HookType.BEFORE),
            COMPUTED: (self.computed, HookType.AFTER),
            KEPT: (self.before_checkpoint, HookType.BEFORE),
            EMPTIED: (self.emptied, HookType.AFTER),
            EXTENDED: (extend_new_rows, HookType.AROUND),
            DETAILS: (with_figures, HookType.AFTER),
        }
        for target, (hook, kind) in hooks.items():
            HookRegistry.register(target, hook, kind)
        self._targets = list(hooks)

    def started(self, _: Any, scheduler: Any) -> None:
        """The model is loaded and nothing is served yet. An invalid setting aborts the start."""
        settings = read_settings()
        if settings is None:
            return
        from reprise_sglang.reuse.start import start_reuse

        self._scheduler = scheduler
        self._runner = runner = scheduler.tp_worker.model_runner
        reuser = None
        try:
            for target in self._targets:
                # SGLang logs a hook that it cannot set, and goes on
                if not hasattr(resolve_name(target), "__wrapped__"):
                    raise RuntimeError(f"this SGLang has no {target} that can be hooked")
            reuser = start_reuse(runner, getattr(scheduler, "tokenizer", None), settings, logger)
        except ReuseSettingError:
            raise
        except Exception:
            logger.exception("reprise: nothing is reused but equal beginnings: it could not be started")
        setattr(runner, REUSER, reuser)

    def plan_prefill(self, original: Any, scheduler: Any, *arguments: Any, **named: Any) -> Any:
        """Lets requests wait, while others are computed, until what they repeat has been read from disk."""
        queue = scheduler.waiting_queue
        # those in the other queue wait for their grammar first
        coming = chain(queue, scheduler.grammar_manager.grammar_queue)
        waiting = None if self._reuser is None else self._or_give_up(self._reuser.reading, coming, scheduler.tree_cache)
        if not waiting:
            return original(scheduler, *arguments, **named)
        scheduler.waiting_queue = [one for one in queue if id(one) not in waiting]
        try:
            return original(scheduler, *arguments, **named)
        finally:
            # in the order in which they came, and behind them what has come back to the queue
            left, known = scheduler.waiting_queue, {id(one) for one in queue}
            stay = waiting | {id(one) for one in left}
            came = [one for one in left if id(one) not in known]
            scheduler.waiting_queue = [one for one in queue if id(one) in stay] + came

    def before_forward(self, cls: type, batch: Any, runner: Any, *arguments: Any, **named: Any) -> Any:
        """Has SGLang compute only what is not reused of a batch."""
        if self._reuser is None or runner is not self._runner:
            return None
        if not self._is_cache_checked:
            self._is_cache_checked = True
            self._or_give_up(self._check_cache, batch.tree_cache)
        batch = self._or_give_up(self._reuser.begin, batch)
        return None if batch is None else ((cls, batch, runner, *arguments), named)

    def computed(self, _: Any, worker: Any, batch: Any, *arguments: Any, **named: Any) -> None:
        """A batch's forward is done, or on its way on a GPU."""
        if self._reuser is not None and batch is not None and worker.model_runner is self._runner:
            self._or_give_up(self._reuser.end, batch)

    def before_checkpoint(self, cache: Any, req: Any, *, up_to: int, **named: Any) -> Any:
        """Keeps approximate keys and values out of SGLang's cache, and all that was computed after them."""
        asked = asked_of(req)
        if asked is None or asked.exact_tokens is None:
            return None
        return (cache, req), {"up_to": min(up_to, asked.exact_tokens), **named}

    def emptied(self, _: Any, cache: Any) -> None:
        """SGLang has emptied its cache. It also does so while it makes it: what was restored from disk stays then."""
        if self._reuser is not None and getattr(self._scheduler, "tree_cache", None) is not None:
            self._or_give_up(self._reuser.reset)

    def _check_cache(self, cache: Any) -> None:
        """Ends reuse unless what is approximate can be kept out of this cache."""
        from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache

        if not isinstance(cache, UnifiedRadixCache):
            self._reuser.refuse(f"approximate keys and values cannot be kept out of a {type(cache).__name__}")

    def _or_give_up(self, do: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return do(*arguments)
        except Exception as error:
            logger.exception("reprise: a fault of reuse; serving goes on without it")
            self._reuser.refuse(f"{type(error).__name__}: {error}")
            return None
