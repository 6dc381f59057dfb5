"""Has filled what each prefill reuses, before its forward, and has stored what that computed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from logging import Logger
from typing import Any

import numpy as np
import torch
from sglang.srt.mem_cache.common import match_kv_cache

from reprise_reuse.disk.messages import ReuseReport, TierOrders
from reprise_reuse.pieces import Load
from reprise_reuse.prompts.claims import QUESTION_TOKENS, Claim, piece_of
from reprise_reuse.requests.prompt_reuse import Limits, PromptReuse
from reprise_settings.reuse_settings import ReuseSettings
from reprise_sglang.reuse.asked import Asked, keys_of, why_stock
from reprise_sglang.reuse.reuse_worker import ReuseWorker
from reprise_sglang.reuse.usage import ATTRIBUTE, ReuseMetrics, asked_of


class Reuser(PromptReuse):
    """
    Takes claimed rows out of SGLang's prefills, after they are filled.

    The scheduler sees nothing of it: it has planned, allocated and accounted for the whole prompt, and only the forward
    computes less. So chunks, retractions, aborts and the overlapping of steps are SGLang's own. A fault costs a request
    its reuse, never its answer.
    """

    def __init__(
        self, worker: ReuseWorker, pool: Any, settings: ReuseSettings, limits: Limits, line_ends: Collection[int],
        metrics: ReuseMetrics | None, logger: Logger,
    ) -> None:  # fmt: skip
        """pool: SGLang's table of the slots of requests"""
        super().__init__(settings, limits, line_ends, logger)
        self._worker, self._table, self._metrics, self.costs = worker, pool, metrics, worker.costs
        self.needs_salts = False
        """a proxy gives tenants salts: requests that lost theirs reuse nothing"""
        self._describe: Callable[[dict[str, Any]], None] = lambda _: None
        self.heard(worker.take_report())

    def report_to(self, describe: Callable[[dict[str, Any]], None]) -> None:
        """Has the proxy told what is reused, now and when that ends."""
        self._describe = describe
        describe({} if self.refusal is not None else {"reuse": self._settings.offer})

    def reading(self, requests: Iterable[Any], cache: Any) -> set[int]:
        """Returns the ids (as objects) of those of the waiting requests whose segments are being looked up or read.

        cache  SGLang's own: what it holds of a request is not looked up
        """
        if self.refusal is not None or not (self._settings.disk or self._settings.remote):
            return set()
        self._tend()
        requests = list(requests)
        self._remote.forget_others({one.rid for one in requests})
        waiting, room = set(), self._catalogue.capacity
        for request in requests:
            asked = self._asked(request)
            room -= len(asked.prompt)
            # what is read for later requests would take the place of what is read for these
            if room < 0:
                break
            if self._waits(request, asked, cache):
                waiting.add(id(request))
        if waiting:
            self._tend()
        return waiting

    def begin(self, batch: Any) -> Any:
        """Returns the batch that SGLang is to compute in place of this one, whose claimed rows are filled."""
        if self.refusal is not None or not batch.forward_mode.is_extend_without_speculative():
            return batch
        # by place in the batch
        claimed = {at: one for at in range(len(batch.reqs)) if (one := self._load_of(batch, at)) is not None}
        if not claimed:
            return batch
        loaded = {id(load) for load in self._worker.load([load for _, load in claimed.values()])}
        self.heard(self._worker.take_report())
        claims = {at: claim for at, (claim, load) in claimed.items() if id(load) in loaded}
        for at, claim in claims.items():
            self._note(batch.reqs[at], claim)
        return _without(batch, {at: claim.end for at, claim in claims.items()}) if claims else batch

    def end(self, batch: Any) -> None:
        """Stores the prompts that this batch's forward has completed."""
        if self.refusal is not None or not batch.forward_mode.is_extend_without_speculative():
            return
        is_checked = False
        for at, request in enumerate(batch.reqs):
            asked, end = asked_of(request), batch.prefix_lens[at] + batch.extend_lens[at]
            if asked is None or asked.is_stored or end < len(asked.prompt):
                continue
            asked.is_stored = True
            blocks = [self._table.req_to_token[request.kv.req_pool_idx, : len(asked.prompt)].tolist()]
            # a check takes as long as a prefill, so there is at most one in a step
            if not is_checked and (check := self._check(asked, blocks)) is not None:
                is_checked = True
                self._worker.check(check)
            save = self._save(asked, blocks)
            if save is not None:
                self._worker.save(save)
        self._share()
        self._tend()
        self._count()
        if self._metrics is not None:
            self._metrics.update(self.counts)

    def heard(self, report: ReuseReport) -> None:
        super().heard(report)
        for nats in report.divergences if self._metrics is not None else ():
            self._metrics.diverged(nats)

    def refuse(self, reason: str) -> None:
        super().refuse(reason)
        self._describe({})

    def _tend(self) -> None:
        """Has disk and store work, and hears what became of it."""
        self._order()
        orders, self._step = self._step, TierOrders()
        self._worker.tend(orders)
        self.heard(self._worker.take_report())

    def _waits(self, request: Any, asked: Asked, cache: Any) -> bool:
        """Whether something is looked up or read for a request. Looks once for what is on disk or in a store."""
        if asked.is_read or asked.stock_because is not None:
            return False
        is_new = asked.cached is None
        if is_new:
            match_kv_cache(request, cache)
            asked.cached = request.prefix_len
        found = () if asked.fetching else self._find(asked, asked.cached)
        if is_new:
            self._remote.look_up(request.rid, asked, asked.prompt, lambda: found, self.costs, asked.cached)
        asked.is_read = self._is_read(request.rid, asked, found, asked.cached)
        return not asked.is_read

    def _asked(self, request: Any) -> Asked:
        asked = asked_of(request)
        if asked is None:
            asked = Asked.of(
                request.origin_input_ids, request.sampling_params.custom_params, self._settings, keys_of(request),
                why_stock(request, self.needs_salts),
            )  # fmt: skip
            setattr(request, ATTRIBUTE, asked)
            if asked.stock_because:
                self.counts["stock", asked.stock_because] += 1
        return asked

    def _load_of(self, batch: Any, at: int) -> tuple[Claim, Load] | None:
        asked, begin = self._asked(batch.reqs[at]), batch.prefix_lens[at]
        if asked.is_begun and batch.reqs[at].extend_batch_idx == 1:
            asked.begin_again()
        asked.is_begun = True
        length = min(begin + batch.extend_lens[at], len(asked.prompt))
        if asked.stock_because is not None or length - begin < self._settings.least_tokens:
            return None
        claim = self._claim(asked, self._find(asked, begin, length), begin, length)
        if asked.unclaimed_because is not None:
            self.counts["stock", asked.unclaimed_because] += 1
        if claim is None:
            return None
        if batch.return_logprob and batch.extend_logprob_start_lens[at] < claim.end - begin:
            self.counts["stock", "prompt_logprobs"] += 1
            return None
        if length < len(asked.prompt):
            # the question is in a later chunk
            tail = range(max(length, len(asked.prompt) - QUESTION_TOKENS), len(asked.prompt))
            claim = replace(claim, question=list(tail))
        slots = self._table.req_to_token[batch.reqs[at].kv.req_pool_idx, : claim.end].tolist()
        load = Load(
            batch.reqs[at].rid, asked.prompt, [slots], begin, claim.end, [piece_of(one) for one in claim.found],
            claim.question, claim.budget, claim.method, is_asynchronous=False,
        )  # fmt: skip
        return claim, load

    def _note(self, request: Any, claim: Claim) -> None:
        asked = self._asked(request)
        self._catalogue.use(one.segment for one in claim.found)
        asked.filled(claim)
        if asked.is_counted:
            return
        asked.exact += claim.exact
        asked.reused += claim.reused
        asked.recomputed += claim.budget
        request.cached_tokens += claim.exact
        for kind, count in (("exact", claim.exact), ("reused", claim.reused), ("recomputed", claim.budget)):
            self.counts["tokens", kind] += count


def _without(batch: Any, ends: Mapping[int, int]) -> Any:
    """Returns a batch that begins to compute some of its requests, by their places in it, only at these positions."""
    changed = copy(batch)
    changed.prefix_lens = [ends.get(at, begin) for at, begin in enumerate(batch.prefix_lens)]
    skipped = [now - before for now, before in zip(changed.prefix_lens, batch.prefix_lens, strict=True)]
    changed.extend_lens = [length - less for length, less in zip(batch.extend_lens, skipped, strict=True)]
    changed.extend_num_tokens = sum(changed.extend_lens)
    changed.extend_logprob_start_lens = [
        max(0, start - less) for start, less in zip(batch.extend_logprob_start_lens, skipped, strict=True)
    ]
    stops = np.cumsum(batch.extend_lens)
    kept = np.concatenate(
        [np.arange(stop - length, stop) for stop, length in zip(stops, changed.extend_lens, strict=True)]
    )
    at = torch.from_numpy(kept).to(batch.out_cache_loc.device)
    changed.input_ids, changed.out_cache_loc = batch.input_ids[at], batch.out_cache_loc[at]
    return changed
