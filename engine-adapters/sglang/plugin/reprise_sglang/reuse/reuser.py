"""Decides for each prefill what is reused, has it filled, and stores what was computed."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from logging import Logger
from typing import Any

import numpy as np
import torch
from sglang.srt.mem_cache.common import match_kv_cache

from reprise_reuse.costs import RowWork
from reprise_reuse.disk.disk_segments import DiskSegments
from reprise_reuse.disk.messages import TierOrders
from reprise_reuse.pieces import Check, Load
from reprise_reuse.prompts.claims import QUESTION_TOKENS, Claim, make_claim, piece_of, why_unclaimed
from reprise_reuse.prompts.storing import Computed, Storing
from reprise_reuse.prompts.users import may_reuse, store_of
from reprise_reuse.prompts.wishes import read_wish
from reprise_reuse.remote.remote_segments import RemoteSegments
from reprise_reuse.segments import Catalogue, Found
from reprise_settings.reuse_settings import ReuseSettings
from reprise_sglang.reuse.asked import ATTRIBUTE, Asked, asked_of, namespace_of, why_stock
from reprise_sglang.reuse.reuse_worker import ReuseWorker
from reprise_sglang.reuse.usage import ReuseMetrics


class Reuser:
    """
    Takes claimed rows out of SGLang's prefills, after they are filled.

    The scheduler sees nothing of it: it has planned, allocated and accounted for the whole prompt, and only the forward
    computes less. So chunks, retractions, aborts and the overlapping of steps are SGLang's own. A fault costs a request
    its reuse, never its answer.
    """

    def __init__(
        self, worker: ReuseWorker, pool: Any, settings: ReuseSettings, catalogue: Catalogue, work: RowWork,
        line_ends: Collection[int], metrics: ReuseMetrics | None, logger: Logger,
    ) -> None:  # fmt: skip
        """pool: SGLang's table of the slots of requests"""
        self._metrics = metrics
        self._worker, self._table, self._settings, self._work = worker, pool, settings, work
        row_bytes, most_averaged = worker.store.shape.bytes, settings.rows_beside(worker.longest)
        self._catalogue, self._orders = catalogue, TierOrders()
        self._disk = DiskSegments(catalogue, 1, row_bytes)
        self._remote = RemoteSegments(catalogue, row_bytes, is_used=settings.remote is not None)
        self._storing = Storing(catalogue, None, settings.contexts, most_averaged, line_ends)
        self._logger = logger
        self.refusal: str | None = None
        """why nothing is reused any more"""
        self.needs_salts = False
        """a proxy gives tenants salts: requests that lost theirs reuse nothing"""
        self._describe: Callable[[dict[str, Any]], None] = lambda _: None
        self.counts: Counter[tuple[str, str]] = Counter()
        """by (what, kind): requests served as stock by reason, tokens by what became of them, segments by event"""
        self._hear()

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
            if not self._is_read(request, asked, cache):
                waiting.add(id(request))
        if waiting:
            self._tend()
        return waiting

    def begin(self, batch: Any) -> Any:
        """Returns the batch that SGLang is to compute in place of this one, whose claimed rows are filled."""
        if self.refusal is not None or not batch.forward_mode.is_extend_without_speculative():
            return batch
        # by place in the batch
        claimed = {at: one for at in range(len(batch.reqs)) if (one := self._claim(batch, at)) is not None}
        if not claimed:
            return batch
        loaded = {id(load) for load in self._worker.load([load for _, load in claimed.values()])}
        self._hear()
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
            slots = self._table.req_to_token[request.kv.req_pool_idx, : len(asked.prompt)].tolist()
            # a check takes as long as a prefill, so there is at most one in a step
            is_short = len(asked.prompt) <= self._worker.forward.most_rows
            if asked.reused and is_short and not is_checked and random.random() < self._settings.check:
                is_checked = True
                self._worker.check(Check(asked.prompt, [slots]))
            self._store(asked, slots)
        self._disk.write(self._storing.changed, self._orders)
        self._remote.share(self._storing.shared)
        self._storing.end_step()
        self._tend()
        self._count()

    def reset(self) -> None:
        """Forgets everything stored: SGLang has emptied its cache, perhaps because the model has other weights now."""
        self._catalogue.clear()
        self._orders.is_reset = True

    def _tend(self) -> None:
        """Has disk and store work, and hears what became of it."""
        orders, self._orders = self._orders, TierOrders()
        orders.dropped_files += self._catalogue.take_dropped_files()
        self._worker.tend(orders, self._remote.take_orders(is_reset=orders.is_reset))
        self._hear()

    def _is_read(self, request: Any, asked: Asked, cache: Any) -> bool:
        """Whether nothing is looked up or read for a request any more. Looks once for what is on disk or in a store."""
        if asked.is_read or asked.stock_because is not None:
            return True
        is_new = asked.cached is None
        if is_new:
            match_kv_cache(request, cache)
            asked.cached = request.prefix_len
        rest = asked.cached, len(asked.prompt)
        found = () if asked.fetching else self._find(asked, len(asked.prompt), asked.cached)
        if is_new:
            self._remote.look_up(request.rid, asked, asked.prompt, lambda: found, self._worker.costs, asked.cached)
        is_ordered = self._remote.order_reads(request.rid, found, rest, self._worker.costs)
        asked.is_read = is_ordered and self._disk.are_at_hand(asked, found, self._orders)
        return asked.is_read

    def _find(self, asked: Asked, length: int, begin: int) -> list[Found]:
        found = self._catalogue.find(asked.namespace, asked.prompt[:length], begin)
        return [one for one in found if may_reuse(one, asked.wish.user, asked.store)]

    def _asked(self, request: Any) -> Asked:
        asked = asked_of(request)
        if asked is None:
            prompt = np.array(request.origin_input_ids, dtype=np.int32)
            wish = read_wish(request.sampling_params.custom_params, self._settings, len(prompt))
            because = why_stock(request, self.needs_salts) or wish.stock_because
            store = store_of(request.cache_salt, self._settings)
            asked = Asked(prompt, wish, namespace_of(request), store, because)
            setattr(request, ATTRIBUTE, asked)
            if because:
                self.counts["stock", because] += 1
        return asked

    def _claim(self, batch: Any, at: int) -> tuple[Claim, Load] | None:
        asked, begin = self._asked(batch.reqs[at]), batch.prefix_lens[at]
        if asked.is_begun and batch.reqs[at].extend_batch_idx == 1:
            asked.begin_again()
        asked.is_begun = True
        length = min(begin + batch.extend_lens[at], len(asked.prompt))
        if asked.stock_because is not None or length - begin < self._settings.least_tokens:
            return None
        found = [one for one in self._find(asked, length, begin) if one.segment.is_at_hand]
        claim = make_claim(
            found, begin, length, asked.wish.ratio, self._settings.least_tokens, self._work, self._settings.method,
            self._worker.costs, is_lossless=not self._settings.is_lossy,
            asked=asked.wish.question,
        )  # fmt: skip
        because = why_unclaimed(found, claim, self._settings.when)
        if because is not None:
            self.counts["stock", because] += 1
        if because is not None or claim is None:
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
        if claim.exact_end < claim.end:
            asked.exact_tokens = min(claim.exact_end, claim.end if asked.exact_tokens is None else asked.exact_tokens)
        if asked.is_counted:
            return
        asked.exact += claim.exact
        asked.reused += claim.reused
        asked.recomputed += claim.budget
        request.cached_tokens += claim.exact
        for kind, count in (("exact", claim.exact), ("reused", claim.reused), ("recomputed", claim.budget)):
            self.counts["tokens", kind] += count

    def _store(self, asked: Asked, slots: Sequence[int]) -> None:
        if asked.stock_because not in (None, "off"):
            return
        # with ratio 1, everything that is not exact was computed again
        exact = None if asked.wish.ratio == 1 else asked.exact_tokens
        save = self._storing.store(
            Computed(
                asked.namespace, asked.prompt, [slots], exact, asked.wish.borders, asked.wish.user, asked.store,
                asked.wish.kept_from,
            )
        )  # fmt: skip
        if save is not None:
            self._worker.save(save)

    def _hear(self) -> None:
        report = self._worker.take_report()
        self.counts["segments", "lost"] += self._disk.heard(report, self._orders)
        self._remote.heard(report)
        self.counts.update({("segments", "refused"): report.refused, ("segments", "unwritten"): report.unwritten})
        self.counts.update({("faults", what): count for what, count in report.faults.items()})
        self.counts.update(report.figures)
        if self._metrics is not None:
            for nats in report.divergences:
                self._metrics.diverged(nats)
        if report.refusals and self.refusal is None:
            self.refuse(report.refusals[0])

    def _count(self) -> None:
        self.counts["segments", "evicted"] = self._catalogue.evicted
        for what, count in self._storing.counts.items():
            self.counts["segments", what] = count
        if self._metrics is not None:
            self._metrics.update(self.counts)

    def refuse(self, reason: str) -> None:
        """Ends reuse."""
        self.refusal = reason
        self._describe({})
        self._logger.error("reprise: nothing is reused but equal beginnings: %s", reason)


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
