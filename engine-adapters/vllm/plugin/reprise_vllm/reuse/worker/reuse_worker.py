"""The workers' side of reuse: fills requests' pages, and keeps rows in host memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from logging import Logger
from typing import TYPE_CHECKING

import torch

from reprise_reuse.device import SideStream
from reprise_reuse.disk.disk_tier import DiskTier
from reprise_reuse.host_store import HostStore, slots_in
from reprise_reuse.pieces import Load, Move, Piece
from reprise_reuse.remote.remote_tier import RemoteTier
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows.compare_answers import report_check
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.fill_kernel import FillKernel
from reprise_reuse.rows.row_choice import OpenLoad, choose_rows
from reprise_reuse.rows.row_pass import Part, compute_rows
from reprise_reuse.rows.stored_rows import StoredRows
from reprise_reuse.rows.worker import Worker
from reprise_reuse.start.prove_reuse import refuse_unless_like_engine
from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.engine_rotation import EngineRotation, rotation_of
from reprise_vllm.engine.failed_loads import FailedLoads
from reprise_vllm.engine.model_parts import ModelParts
from reprise_vllm.engine.nested_forward import NestedForward, sights_of
from reprise_vllm.engine.page_layout import PageLayout
from reprise_vllm.engine.supported import LayerGroups
from reprise_vllm.reuse.messages import ReuseStep, WorkerReport
from reprise_vllm.reuse.worker.late_loads import LateLoads
from reprise_vllm.reuse.worker.moving_rows import MovingRows

if TYPE_CHECKING:
    from vllm.config import VllmConfig


class ReuseWorker(Worker):
    """
    Fills the rows that the scheduler's side has claimed, before the engine's own forward or over several steps.

    Rows are computed in ascending order, so that each attends to those computed before it; ratio 1 equals full
    attention. Nothing here waits for the device. If rows were no longer what was stored, that is known when the step
    ends: then vLLM computes the load's rows and drops what the step has said, as after any failed load.
    """

    def __init__(
        self, config: "VllmConfig", groups: LayerGroups, blocks: int, caches: dict[str, torch.Tensor],
        parts: ModelParts, settings: ReuseSettings, tiers: tuple[DiskTier | None, RemoteTier | None], logger: Logger,
    ) -> None:  # fmt: skip
        layers, caches = list(parts.layers.values()), [caches[name] for name in parts.layers]
        first, device = layers[0], caches[0].device
        # a mean is computed where the pages are: on a processor, one of 512 tokens of an 8B model takes 130 ms
        exact = rotation_of(parts.rotaries, KeyRotation, device)
        shape = groups.row_shape(config.model_config.dtype, settings.host_dtype)
        store = HostStore(slots_in(settings.host_bytes, shape), shape, exact, pinned=device.type == "cuda")
        super().__init__(device, store, tiers, WorkerReport(), logger)
        self.layer, self.groups, self._block_size = first, groups, groups.spec.block_size
        self.longest = config.model_config.max_model_len
        self.layout = layout = PageLayout(first, caches[0], blocks, self._block_size, config.model_config.dtype)
        layout.know(layers, caches)
        rotation = rotation_of(parts.rotaries, EngineRotation, device)
        self.forward = NestedForward(config, parts.model, groups, parts.layers)
        sights = sights_of(groups, parts.layers)
        self.pages = PromptPages(
            self.forward, layout, caches, float(first.impl.scale), rotation.positions,
            config.parallel_config.tensor_parallel_size, sights,
        )  # fmt: skip
        self.stored = StoredRows(layers, caches, layout, blocks, rotation, store, [sight.group for sight in sights])
        self.fill_kernel = partial(FillKernel, layout, caches, store, exact)
        """makes what fills rows of all layers at once, or raises ValueError if it cannot reach the pages"""
        self._moving = MovingRows(self.stored, SideStream(device))
        self._rows_per_step = settings.rows_beside(config.scheduler_config.max_num_batched_tokens)
        self._late = LateLoads(SideStream(device), self.pages.ranks)
        self._loaded: set[str] = set()
        # the device has yet to say whether their rows were what was stored
        self._unread: list[OpenLoad] = []
        self.failed = FailedLoads(self._block_size, by_request=groups.have_windows)

    @torch.inference_mode()
    def prepare(self, step: ReuseStep) -> None:
        """Copies rows that leave their pages to host memory, before the step overwrites these pages."""
        # the step may write to pages that were given back at a reset
        for opened in [one for request_id in step.aborted for one in self._late.of(request_id)]:
            self._late.end(opened)
            self._loaded.add(opened.load.request_id)
        if step.loads:
            # of copies that loads may read now
            self._lose(self._moving.take_changed())
        with self._or_lose(step.moves):
            self._moving.begin(step)
        # vLLM calls `begin_step` only after the step's forward, which may overwrite what they need
        if all(load.is_asynchronous for load in step.loads):
            self._fill(step.loads)

    @torch.inference_mode()
    def begin_step(self, step: ReuseStep) -> None:
        """Fills pages, and computes a slice of other loads; before the forward only if a load must finish now."""
        self.tiers.tend(step, self.report)
        now = [] if all(load.is_asynchronous for load in step.loads) else self._fill(step.loads)
        with self._or_lose(self._moving.left):
            self._moving.finish()
        self._choose(now)
        self._compute([(one, one.rows) for one in now])
        seconds = self.costs.prefill(0, self._rows_per_step) - sum(one.load.seconds for one in now)
        self.go_on(max(seconds, self.costs.row))

    @torch.inference_mode()
    def load_now(self, load: Load) -> bool:
        opened = self._open_load(load)
        self._choose([opened])
        self._compute([(opened, opened.rows)])
        self._settle()
        # no request of vLLM's
        self.failed.clear()
        return not opened.has_failed

    @torch.inference_mode()
    def go_on(self, seconds: float) -> None:
        """Computes rows of the open loads, oldest first, for about so many seconds, as predicted."""
        while seconds > 0 and (opened := self._late.next()) is not None:
            if opened.rows is None:
                self._choose([opened])
                seconds -= opened.load.asking
            self._goes_on(opened)
            # at least one row, even if choosing used up the time, so that every step makes progress
            count, taken = self.costs.affordable(opened.load.end, len(opened.rows), seconds)
            rows, opened.rows = opened.rows[:count], opened.rows[count:]
            self._compute([(opened, rows)])
            seconds = 0 if len(opened.rows) else seconds - taken
            if not len(opened.rows):
                self._late.end(opened)
                self._loaded.add(opened.load.request_id)

    @torch.inference_mode()
    def save(self, step: ReuseStep) -> None:
        """Stores rows that this step has completed, then queues writes to disk."""
        self._settle()
        if step.saves:
            refuse_unless_like_engine(self, step.saves[0], self._logger)
        for save in step.saves:
            if self.failed.touch(save.blocks[0]):
                # vLLM computes again what a load of this step could not fill
                self._lose(save.pieces)
                continue
            with self._or_lose(save.pieces):
                self.stored.save(save)
        for check in step.checks:
            report_check(self, check, self._faults)
        with self._or_lose(()):
            self.tiers.write(step)
        with self._or_lose(step.copies):
            self._moving.copy(step.copies)

    def take_loaded(self) -> set[str]:
        """Returns the requests whose asynchronous loads have ended since the last call."""
        loaded, self._loaded = self._loaded, set()
        return loaded

    def take_report(self) -> WorkerReport | None:
        """Returns the report since the last call, or None if there is nothing to report."""
        self.tiers.report(self.report)
        self.report.figures.update({("seconds", phase): taken for phase, taken in self.clock.take().items()})
        if self.report.is_empty:
            return None
        report, self.report = self.report, WorkerReport()
        return report

    def _fill(self, loads: Sequence[Load]) -> list[OpenLoad]:
        """Writes stored rows to the pages immediately: in the next step their slots may belong to another segment.

        In order, since a load's pages may be those that an earlier one reads. Returns those that must finish now.
        """
        opened = [self._open_load(load) for load in loads]
        for one in opened:
            if one.load.is_asynchronous:
                self._late.add(one)
        return [one for one in opened if not one.load.is_asynchronous]

    def _open_load(self, load: Load) -> OpenLoad:
        opened = OpenLoad.of(load, self._block_size, self.device)
        self._unread.append(opened)
        self.report.figures["loads", load.kind] += 1
        beside = partial(self._late.copying, opened, self.clock) if load.is_asynchronous else None
        try:
            with self.clock.phase("filling"):
                self._do_without(opened, opened.fill(self.stored, beside))
        except Exception:
            self._faults.happened("filling", "a request's rows could not be reused, vLLM computes them", self.report)
            self._leave_to_engine(opened)
        return opened

    def _settle(self) -> None:
        """Hears from the device about what was read from pages in this step.

        By now the step's forward is on its way, so the device has enough to do while this waits for what came first.
        """
        unread, self._unread = self._unread, []
        for opened in unread:
            self._do_without(opened, opened.changed_owners())
        self._lose(self._moving.take_changed())

    def _do_without(self, opened: OpenLoad, owners: set[int]) -> None:
        """Reports segments of a load that are lost, if there are any."""
        if owners:
            self.report.lost |= owners
            self._leave_to_engine(opened)

    @contextmanager
    def _or_lose(self, rows: Sequence[Move | Piece]) -> Iterator[None]:
        """After a fault, marks the segments of these rows as lost, so that nothing uses them."""
        try:
            yield
        except Exception:
            self._faults.happened("storing", "segments were not stored", self.report)
            self._lose(rows)

    def _choose(self, opened: Sequence[OpenLoad]) -> None:
        """Chooses the rows to compute, of all loads in one pass."""
        opened = [one for one in opened if self._goes_on(one)]
        if not opened:
            return
        try:
            with self.clock.phase("question"):
                choose_rows(self.pages, opened)
        except Exception:
            self._faults.happened("choosing", "rows could not be chosen, vLLM computes them", self.report)
            for one in opened:
                self._leave_to_engine(one)
                one.take(one.load.budget)

    def _compute(self, parts: Sequence[Part]) -> None:
        """Computes rows of loads, all in one pass."""
        self.report.figures.update(("load_steps", one.load.kind) for one, _ in parts)
        parts = [(one, rows) for one, rows in parts if self._goes_on(one) and len(rows)]
        if not parts:
            return
        try:
            with self.clock.phase("rows"):
                compute_rows(self.pages, parts)
        except Exception:
            self._faults.happened("computing", "requests' rows could not be computed, vLLM computes them", self.report)
            for one, _ in parts:
                self._leave_to_engine(one)
        else:
            for one, rows in parts:
                self.report.figures["load_rows", one.load.kind] += len(rows)
            self._faults.none_happened()

    def _goes_on(self, opened: OpenLoad) -> bool:
        """Whether the load's rows are computed; if not, drops them."""
        # the other ranks of a failed load compute it, and would wait for this one
        if opened.has_failed and self.pages.ranks == 1:
            opened.rows = torch.empty(0, dtype=torch.int64, device=self.device)
            return False
        return True

    def _leave_to_engine(self, opened: OpenLoad) -> None:
        """Has vLLM compute the load's rows: they are no more than it would have computed without reuse."""
        load = opened.load
        if not opened.has_failed:
            self.report.figures["loads", "failed"] += 1
        opened.has_failed = True
        self.report.missed[load.request_id] = load.end - load.begin
        self.failed.add(load)
