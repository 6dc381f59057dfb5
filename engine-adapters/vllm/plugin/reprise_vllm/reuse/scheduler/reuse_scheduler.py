"""The scheduler's side of reuse: claims rows that segments hold, and tells workers what to load and store."""

from collections.abc import Collection
from logging import Logger
from typing import TYPE_CHECKING

from reprise_reuse.pieces import GroupBlocks
from reprise_reuse.prompts.claims import Claim
from reprise_reuse.requests.prompt_reuse import Limits, PromptReuse
from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.contained import contained
from reprise_vllm.engine.private_hashes import is_cached, public_hashes
from reprise_vllm.engine.request_blocks import WindowBlocks, before_resets, free_loading, is_running
from reprise_vllm.reporting.cache_watcher import Reuse
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport
from reprise_vllm.reuse.scheduler.asked import Asked, asked_by, delays_others
from reprise_vllm.reuse.scheduler.continuations import Continuations
from reprise_vllm.reuse.scheduler.observations import Observations
from reprise_vllm.reuse.scheduler.page_tier import PageTier

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks, KVCacheManager
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request


class ReuseScheduler(PromptReuse):
    """
    Claims what a prompt repeats as tokens that vLLM need not compute.

    All ranks obey, so all hold the same. Steps reach the workers in order, so a load reads its slots before they are
    reused.
    """

    def __init__(self, settings: ReuseSettings, limits: Limits, line_ends: Collection[int], logger: Logger) -> None:
        super().__init__(settings, limits, line_ends, logger)
        self._step = ReuseStep()
        self._pages = PageTier(
            self._catalogue, limits.block_size, limits.device_blocks, limits.blocks_ahead, self.give_up
        )  # fmt: skip
        self._storing.pages = self._pages
        self._continuations = Continuations(limits.device_blocks, limits.block_size)
        self._windows = WindowBlocks()
        self._pool: BlockPool | None = None
        self._asked: dict[str, Asked] = {}
        self._seconds_claimed = 0.0
        self._ready_ranks = 0
        self.observations = Observations(self.counts)

    @property
    def is_ready(self) -> bool:
        """Whether the self-test has passed on all ranks."""
        return self.refusal is None and self._ready_ranks >= self._limits.ranks

    @property
    def offer(self) -> dict[str, float | bool] | None:
        """What is reported to the proxy: how much of what is reused is recomputed; None if nothing is reused."""
        return self._settings.offer if self.is_ready else None

    def give_up(self, doing: str) -> None:
        """Ends reuse after a fault: existing claims are still filled, but no new ones are made."""
        self.counts["faults", doing] += 1
        if self.refusal is None:
            self._logger.exception("reprise: nothing is reused any more because of a fault in %s", doing)
            self.refusal = f"a fault in {doing}"

    @contained("watching the block pool")
    def watch(self, pool: "BlockPool") -> None:
        """Leaves new segments in the engine's pages until these are handed out, if that can be observed.

        With a disk or store they are copied at once instead: pages are lost when the engine ends. With windows, too.
        """
        self._pool = pool
        if not (self._limits.disk_tokens or self._limits.has_windows or self._settings.remote):
            self._pages.watch(pool)

    @contained("watching the blocks of layers with windows")
    def watch_manager(self, manager: "KVCacheManager") -> None:
        """Gives loads back before resets, and prepares to keep blocks that layers with windows would give back."""
        before_resets(manager, lambda: self.give_loads_back(manager))
        if self._limits.has_windows:
            self._windows.bind(manager)

    @contained("taking a request")
    def begin(self, request: "Request") -> None:
        """Registers a new request, and reads what it asks for."""
        asked = self._asked[request.request_id] = asked_by(request, self._settings)
        if asked.stock_because or self.refusal:
            self.counts["stock", asked.stock_because or "refused"] += 1
        elif self.is_ready:
            self._go_on(asked)
            self._remote.look_up(request.request_id, asked, asked.prompt, lambda: self._find(asked, 0), self.costs)

    @contained("claiming", (0, False))
    def claim(self, request: "Request", cached: int) -> tuple[int | None, bool]:
        """Returns how many tokens after the first `cached` ones vLLM need not compute, and if that takes several steps.

        None means: ask again in the next step, because segments are looked up, or read from disk or a shared store.
        """
        asked = self._asked.get(request.request_id)
        self._windows.release(request.request_id)
        if asked is None or asked.stock_because or not self.is_ready:
            return 0, False
        asked.cached = cached
        if asked.claim is not None:
            # vLLM had no room for the last one; with windows, it takes more than no reuse
            asked.give_back(asked.claim)
            asked.claim, asked.is_given_up = None, self._limits.has_windows
        if asked.earlier is not None and cached <= asked.earlier.exact_tokens and request.num_preemptions == 0:
            asked.go_back()
        found = self._find(asked, cached)
        if not self._is_read(request.request_id, asked, found, cached):
            return None, False
        claim = self._claim(asked, found, cached)
        if claim is None:
            return 0, False
        if self._limits.has_windows and (asked.is_given_up or not self._windows.hold(request, claim.computed_from)):
            asked.unclaimed_because = "no_room"
            return 0, False
        asked.take(claim, self._limits.block_size)
        # vLLM computes the rest of the prompt in the same step
        taken = self._seconds_claimed + claim.seconds.load + claim.seconds.rest
        asked.is_late = claim.gaps + claim.budget > 0 and taken > self.costs.prefill(0, self._limits.rows_per_step)
        asked.is_late |= self._limits.has_windows  # else vLLM could not be told that it failed
        asked.is_late |= self._limits.copies_beside and delays_others(claim, self.costs, self._asked.values())
        return claim.end - cached, asked.is_late

    def allocated(self, request: "Request", blocks: "KVCacheBlocks", external: int) -> None:
        """Blocks were allocated to the request, of which we must fill `external` tokens."""
        asked = self._asked.get(request.request_id)
        if asked is None:
            return
        claim, asked.claim, asked.found = asked.claim, None, None
        if claim is not None and external:
            # a fault here ends the engine, which would take what is in these blocks for the prompt's
            self._step.loads.append(asked.load(claim, blocks.get_block_ids()))
        self._note_load(asked, claim, external > 0)

    @contained("allocating")
    def _note_load(self, asked: Asked, claim: Claim | None, is_loaded: bool) -> None:
        if claim is not None and not is_loaded:
            # another connector, asked first, has loaded something
            asked.give_back(claim)
            claim = None
        if claim is not None:
            self._seconds_claimed += 0 if asked.is_late else claim.seconds.load
            self.observations.predicted(claim.seconds)
            self._catalogue.use(one.segment for one in claim.found)
        is_reused = claim is not None or asked.earlier is not None
        if is_reused and not asked.is_counted and asked.request.num_preemptions == 0:
            asked.note_tokens(claim)

    def end_step(self, output: "SchedulerOutput") -> ReuseStep | None:
        """Returns what workers must do in the step just scheduled, or None if there is nothing to do."""
        if not self._complete_step(output):
            # the loads already promised, and that others must not write to blocks that were given back
            step = self._step
            self._step = ReuseStep(loads=step.loads, aborted=step.aborted, is_reset=step.is_reset)
        step, self._step = self._step, ReuseStep()
        return None if step.is_empty else step

    @contained("storing", otherwise=False)
    def _complete_step(self, output: "SchedulerOutput") -> bool:
        self._step.moves += self._pages.take_moves()
        for request_id, count in output.num_scheduled_tokens.items():
            asked, held = self._asked.get(request_id), self._windows.release(request_id)
            if asked is None or asked.is_stored or self.refusal is not None:
                continue
            done = min(asked.request.num_computed_tokens + count, asked.request.num_prompt_tokens)
            if done == asked.request.num_prompt_tokens:
                asked.is_stored = True
                self.observations.prompt_computed(asked)
            # what layers with windows hold of a prompt's part is gone before its end is computed
            if asked.is_stored or self._limits.has_windows:
                self._store(asked, output.kv_connector_block_state.get_block_ids(request_id), done, held)
        # averaging may have brought segments from pages to host memory
        self._step.moves += self._pages.take_moves()
        self._share()
        self._count()
        self._order()
        self._step.copies = self._pages.copy_ahead(self.costs.rows_beside(output.total_num_scheduled_tokens))
        self._seconds_claimed = 0.0
        return True

    @contained("noting answers")
    def answered(self) -> None:
        """A step's output has been processed."""
        self.observations.step_processed()

    @contained("ending a request", otherwise=0)
    def finished(self, request: "Request") -> int:
        """Forgets a request that has ended, aborted or not, and remembers its turn if later prompts may continue it.

        Returns how many of its tokens were found at another position and computed again.
        """
        asked = self._asked.pop(request.request_id, None)
        if asked is None:
            return 0
        self.observations.finished(asked)
        self._remote.forget(request.request_id)
        self._windows.release(request.request_id)
        if asked.is_late:
            self._step.aborted.append(request.request_id)
        turn = asked.turn(self._limits.block_size)
        if turn is not None and not asked.is_outdated:
            self._continuations.remember(public_hashes(request, asked.public, asked.salt), turn)
        return asked.recomputed

    @contained("hearing a worker")
    def heard(self, report: WorkerReport) -> None:
        self._ready_ranks += report.ready
        self.costs = report.costs or self.costs
        super().heard(report)
        self.observations.diverged(report.divergences)
        for request_id, rows in report.missed.items():
            if request_id in self._asked:
                self._asked[request_id].lose_tokens(rows)
                self._asked[request_id].is_given_up = self._limits.has_windows

    def reuse_of(self, request: "Request") -> Reuse | None:
        """Returns how much of the request differs from full attention, or None if nothing does."""
        if (asked := self._asked.get(request.request_id)) is None or asked.exact_tokens is None:
            return None
        return Reuse(asked.exact_tokens, asked.reused, asked.recomputed)

    @contained("giving loads back")
    def give_loads_back(self, manager: "KVCacheManager") -> None:
        """Gives up open loads, so that vLLM can reset its cache, unless requests run. Theirs are scheduled anew."""
        if is_running(asked.request for asked in self._asked.values()):
            return
        for request_id, asked in self._asked.items():
            if asked.is_loading and free_loading(manager, asked.request):
                asked.is_loading = asked.is_counted = False
                asked.is_given_up = self._limits.has_windows
                self._step.aborted.append(request_id)

    @contained("resetting")
    def reset(self) -> None:
        super().reset()
        self._continuations.clear()
        for asked in self._asked.values():
            asked.is_outdated |= asked.request.num_computed_tokens > 0

    def _go_on(self, asked: Asked) -> None:
        """Makes vLLM look up a prompt that starts with an approximate turn under the hashes of that turn's blocks.

        If vLLM's cache holds just as much of it from full attention, the lookup stays unchanged.
        """
        tokens = asked.request.prompt_token_ids
        known = self._continuations.find(asked.public, tokens, asked.wish.ratio, asked.shared_with)
        if known is not None and not is_cached(self._pool, asked.public[known[1] - 1]):
            asked.go_on(*known, self._limits.block_size)

    def _store(self, asked: Asked, blocks: GroupBlocks, done: int, held: int | None) -> None:
        """Stores rows of a prompt, computed as far as `done`. held: from which row on its blocks were held."""
        # a check takes as long as a prefill, so there is at most one in a step
        if asked.is_stored and not self._step.checks and (check := self._check(asked, blocks)) is not None:
            self._step.checks.append(check)
        begin = asked.request.num_computed_tokens if self._limits.has_windows else 0
        save = self._save(asked, blocks, done, begin if held is None else held, begin)
        if save is not None:
            self._step.saves.append(save)
