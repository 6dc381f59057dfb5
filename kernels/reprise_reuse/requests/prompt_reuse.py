"""Decides what requests reuse and what is stored of them. An engine's plugin says when, and has workers do it."""

import math
import random
import time
from collections import Counter
from collections.abc import Collection, Sequence
from logging import Logger
from typing import TYPE_CHECKING, NamedTuple

from reprise_reuse.costs import EVEN, RowWork
from reprise_reuse.disk.disk_segments import DiskSegments
from reprise_reuse.disk.messages import ReuseReport, TierOrders
from reprise_reuse.pieces import Check, GroupBlocks, Save
from reprise_reuse.prompts.asked import Asked
from reprise_reuse.prompts.claims import Claim, make_claim, why_unclaimed
from reprise_reuse.prompts.storing import Computed, Storing
from reprise_reuse.prompts.users import may_reuse
from reprise_reuse.remote.remote_segments import RemoteSegments
from reprise_reuse.segments import Catalogue, Found
from reprise_reuse.segments.eviction_order import PROBATION

if TYPE_CHECKING:
    from reprise_settings.reuse_settings import ReuseSettings


class Limits(NamedTuple):
    """How much the catalogue and a step may hold, and what computing rows costs."""

    host_tokens: int
    disk_tokens: int
    row_bytes: int
    rows_per_step: int
    most_checked: int
    """tokens of the longest prompt that is checked"""
    even_keys: float = math.inf
    """see `RowWork`"""
    block_size: int = 1
    ranks: int = 1
    device_blocks: int = 0
    has_windows: bool = False
    """some layers see a window only, so a request's rows are not all in its blocks"""
    copies_beside: bool = False
    """the device copies from and to host memory beside what it computes, as a GPU does"""

    @property
    def blocks_ahead(self) -> int:
        """How many of the blocks that are handed out next are copied to host memory before."""
        # two steps' full; host memory keeps twice as many beside what prompts have repeated
        tokens = min(2 * self.most_checked, int(PROBATION * self.host_tokens) // 2)
        return tokens // self.block_size if self.copies_beside else 0


class PromptReuse:
    """
    The segments that prompts share, on all tiers: what of them a request reuses, and what its prompt adds to them.

    All of it is known here at once, and workers obey. So a claim waits for no reply, unless its segments are read.
    """

    def __init__(self, settings: "ReuseSettings", limits: Limits, line_ends: Collection[int], logger: Logger) -> None:
        """line_ends: tokens after which a segment may end"""
        self._settings, self._limits, self._logger = settings, limits, logger
        # files of earlier runs may exist, so names start at the current time
        self._catalogue = catalogue = Catalogue(
            limits.host_tokens, limits.disk_tokens, time.time_ns(), limits.block_size
        )  # fmt: skip
        self._storing = Storing(catalogue, settings.contexts, limits.rows_per_step, line_ends)
        self._disk = DiskSegments(catalogue, limits.ranks, limits.row_bytes)
        self._remote = RemoteSegments(catalogue, limits.row_bytes, is_used=settings.remote is not None)
        self._work = RowWork(limits.even_keys) if settings.ratio_of == "work" else RowWork()
        self._step = TierOrders()
        self.costs = EVEN
        self.refusal: str | None = None
        """why nothing is reused, or no longer"""
        self.counts: Counter[tuple[str, str]] = Counter()
        """by (what, kind): requests served as stock by reason, tokens by what became of them, segments by event, …"""
        logger.info(
            "reprise: reusing at any position: %d tokens in host memory, %d on disk; %s of the %s is done again",
            *(limits.host_tokens, limits.disk_tokens, f"{settings.ratio:.0%}", settings.ratio_of),
        )

    def refuse(self, reason: str) -> None:
        """Ends reuse."""
        self.refusal = reason
        self._logger.error("reprise: nothing is reused but equal beginnings: %s", reason)

    def reset(self) -> None:
        """Forgets everything stored: the engine has emptied its cache, perhaps because the model has other weights."""
        self._catalogue.clear()
        self._step.is_reset = True

    def heard(self, report: ReuseReport) -> None:
        """Processes what workers report."""
        self.counts["segments", "lost"] += self._disk.heard(report, self._step)
        self._remote.heard(report)
        self.counts.update({("segments", "refused"): report.refused, ("segments", "unwritten"): report.unwritten})
        self.counts.update({("faults", what): count for what, count in report.faults.items()})
        self.counts.update(report.figures)
        if report.refusals and self.refusal is None:
            self.refuse(report.refusals[0])

    def _find(self, asked: Asked, begin: int, end: int | None = None) -> list[Found]:
        """Returns what segments hold of a prompt's tokens [begin, end), of those that its request may reuse."""
        at = self._catalogue.version, begin, end
        # a waiting request is looked up in every step
        if asked.found is None or asked.found[0] != at:
            found = self._catalogue.find(asked.namespace, asked.prompt[:end], begin)
            asked.found = at, [one for one in found if may_reuse(one, asked.wish.user, asked.store)]
        return asked.found[1]

    def _is_read(self, request: str, asked: Asked, found: Sequence[Found], begin: int) -> bool:
        """Has read what only the disk or the shared store holds. Returns whether nothing is looked up or read any more.

        begin  where the engine's own cache of the prompt ends
        """
        is_ordered = self._remote.order_reads(request, found, (begin, len(asked.prompt)), self.costs)
        return is_ordered and self._disk.are_at_hand(asked, found, self._step)

    def _claim(self, asked: Asked, found: Sequence[Found], begin: int, end: int | None = None) -> Claim | None:
        """Returns what to claim of a prompt's tokens [begin, end), and notes why if it is nothing of what was found."""
        found, settings = [one for one in found if one.segment.is_at_hand], self._settings
        claim = make_claim(
            found, begin, len(asked.prompt[:end]), asked.wish.ratio, settings.least_tokens, self._work,
            settings.method, self.costs, is_lossless=not settings.is_lossy, asked=asked.wish.question,
        )  # fmt: skip
        asked.unclaimed_because = why_unclaimed(found, claim, settings.when)
        return claim if asked.unclaimed_because is None else None

    def _check(self, asked: Asked, blocks: GroupBlocks) -> Check | None:
        """Returns what compares a computed prompt's answer with full attention's, for a sample of those that reuse."""
        is_short = len(asked.prompt) <= self._limits.most_checked
        is_chosen = asked.reused and is_short and random.random() < self._settings.check
        return Check(asked.prompt, blocks) if is_chosen else None

    def _save(
        self, asked: Asked, blocks: GroupBlocks, done: int | None = None, begin: int = 0, computed_from: int = 0
    ) -> Save | None:
        """Returns what to store of a prompt, computed as far as `done`, or to its end; None: nothing.

        begin, computed_from  see `Computed`
        """
        if asked.is_outdated or asked.stock_because not in (None, "off"):
            return None
        # with ratio 1, everything that is not exact was computed again
        exact, wish = None if asked.ratio == 1 else asked.exact_tokens, asked.wish
        computed = Computed(
            asked.namespace, asked.prompt[:done], blocks, exact, wish.borders, wish.user, asked.store,
            max(begin, wish.kept_from), computed_from,
        )  # fmt: skip
        return self._storing.store(computed)

    def _share(self) -> None:
        """Has written what this step stores, on disk and where others find it."""
        self._disk.write(self._storing.changed, self._step)
        self._remote.share(self._storing.shared)
        self._storing.end_step()

    def _count(self) -> None:
        """Counts what was stored and evicted so far."""
        for kind, count in {**self._storing.counts, "evicted": self._catalogue.evicted}.items():
            self.counts["segments", kind] = count

    def _order(self) -> None:
        """Adds to the orders to workers what does not belong to a request."""
        self._step.dropped_files += self._catalogue.take_dropped_files()
        self._step.remote = self._remote.take_orders(is_reset=self._step.is_reset)
