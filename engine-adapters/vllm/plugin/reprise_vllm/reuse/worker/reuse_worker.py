"""The workers' side of reuse: fills requests' pages, and keeps rows in host memory."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import Logger
from typing import TYPE_CHECKING

import numpy as np
import torch

from reprise_reuse.host_store import HostStore, Rows, RowShape
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.runs import affordable
from reprise_vllm.engine.cache_slots import as_blocks
from reprise_vllm.engine.engine_rotation import EngineRotation
from reprise_vllm.engine.model_parts import ModelParts
from reprise_vllm.engine.nested_forward import NestedForward
from reprise_vllm.engine.page_layout import PageLayout
from reprise_vllm.reuse.disk.disk_rows import DiskRows
from reprise_vllm.reuse.disk.disk_tier import DiskTier
from reprise_vllm.reuse.messages import Load, Move, ReuseStep, Save, WorkerReport, meet
from reprise_vllm.reuse.settings import ReuseSettings
from reprise_vllm.reuse.worker.evidence import PromptPages
from reprise_vllm.reuse.worker.faults import Faults
from reprise_vllm.reuse.worker.prove_reuse import compare_with_engine
from reprise_vllm.reuse.worker.row_choice import Filled, OpenLoad, agree, rows_to_compute
from reprise_vllm.reuse.worker.stored_rows import StoredRows

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec


class ReuseWorker:
    """
    Fills the rows that the scheduler's side has claimed, before the engine's own forward or over several steps.

    Every claim is filled: rows that are missing, or are no longer what was stored, are computed. Rows are computed in
    ascending order, so that each attends to those computed before it; ratio 1 equals full attention.
    """

    def __init__(
        self,
        config: "VllmConfig",
        spec: "AttentionSpec",
        blocks: int,
        caches: dict[str, torch.Tensor],
        parts: ModelParts,
        settings: ReuseSettings,
        host_slots: int,
        disk: DiskTier | None,
        logger: Logger,
    ) -> None:
        layers, caches = list(parts.layers.values()), [caches[name] for name in parts.layers]
        self.layer = first = layers[0]
        """an attention layer; all have the same shape"""
        self.device = caches[0].device
        self._block_size = spec.block_size
        layout = PageLayout(first, caches[0], blocks, spec.block_size)
        self.rotary = parts.rotary.cos_sin.to(self.device), parts.rotary.is_neox
        """the rotary embedding's tables, and which pairs it turns, as `KeyRotation` takes them"""
        rotation = EngineRotation(self.rotary[0], is_neox=self.rotary[1])
        self.forward = NestedForward(config, parts.model, spec, parts.layers)
        self.pages = PromptPages(
            self.forward, layout, caches, float(first.impl.scale), rotation.positions,
            config.parallel_config.tensor_parallel_size,
        )  # fmt: skip
        shape = RowShape(len(layers), first.num_kv_heads, first.head_size, caches[0].dtype, settings.host_dtype)
        # a mean is computed where the pages are: on a processor, one of 512 tokens of an 8B model takes 130 ms
        exact = KeyRotation(self.rotary[0], is_neox=self.rotary[1])
        self.store = HostStore(host_slots, shape, exact, pinned=self.device.type == "cuda")
        self.stored = StoredRows(layers, caches, layout, blocks, rotation, self.store)
        self._disk = None if disk is None else DiskRows(disk, self.store, logger)
        self._rows_per_step = settings.rows_beside(config.scheduler_config.max_num_batched_tokens)
        self._open: deque[OpenLoad] = deque()
        self._loaded: set[str] = set()
        self._moving: tuple[list[Move], Rows] | None = None
        self._failed_blocks: set[int] = set()
        self._is_compared = False
        self._logger = logger
        self._faults = Faults(logger)
        self.report = WorkerReport()

    @torch.inference_mode()
    def prepare(self, step: ReuseStep) -> None:
        """Copies rows that leave their pages to host memory, before the step overwrites these pages."""
        moves = [move for move in step.moves if self._is_there(move)]
        if not moves:
            return
        with self._or_lose(moves):
            if meet(moves, step.loads):
                self._moving = moves, self.stored.read(moves)
            else:
                self.stored.move(moves)

    @torch.inference_mode()
    def begin_step(self, step: ReuseStep) -> None:
        """Fills pages, and computes another slice of the loads that take several steps.

        vLLM calls this before its forward only if a load must finish in this step.
        """
        if self._disk is not None:
            self._disk.tend(step, self.report)
        for request_id in step.aborted:
            self._abort(request_id)
        budget = self._rows_per_step
        for load in step.loads:
            if load.is_asynchronous:
                self._open.append(self._begin(load))
            else:
                budget -= self.load_now(load)
        # written only now, because a load had to read these slots first
        if self._moving is not None:
            (moves, rows), self._moving = self._moving, None
            with self._or_lose(moves):
                self.stored.put(moves, rows)
        self.go_on(max(budget, 1))

    @torch.inference_mode()
    def load_now(self, load: Load) -> int:
        """Fills all rows of a load. Returns the cost in computed rows, including that of choosing them.

        If more rows must be computed than were promised, and more than beside a step, vLLM computes them in its own
        steps, as after any failed load.
        """
        opened = self._begin(load)
        asking = self._choose(opened)
        promised = load.budget + load.end - load.begin - sum(piece.end - piece.start for piece in load.pieces)
        if len(opened.rows) > max(promised, self._rows_per_step):
            self._leave_to_engine(opened)
            return asking
        return asking + self._compute(opened, load.end)

    @torch.inference_mode()
    def go_on(self, budget: int) -> None:
        """Computes up to `budget` rows of the open loads, oldest first."""
        while self._open and budget > 0:
            opened = self._open[0]
            if opened.rows is None:
                budget -= self._choose(opened)
            # at least one row, even if choosing used up the budget, so that every step makes progress
            count = affordable(opened.rows, budget)
            self._compute(opened, count)
            budget = 0 if len(opened.rows) else budget - count
            if not len(opened.rows):
                self._open.popleft()
                self._loaded.add(opened.load.request_id)

    @torch.inference_mode()
    def save(self, step: ReuseStep) -> None:
        """Stores rows that this step has completed, then queues writes to disk."""
        if step.saves and not self._is_compared:
            self._compare_with_engine(step.saves[0])
        for save in step.saves:
            # vLLM computes again what a load of this step could not fill
            is_there = self._failed_blocks.isdisjoint(save.blocks)
            try:
                if is_there:
                    self.stored.save(save)
            except Exception:
                self._faults.happened("storing", "segments were not stored", self.report)
                is_there = False
            if not is_there:
                for piece in save.pieces:
                    self._lose(piece.slots, piece.owner)
        if self._disk is not None:
            for file in step.writes:
                self._disk.write(file)

    def restore(self) -> None:
        """Reports the segments that an earlier run of the engine left on disk."""
        if self._disk is not None:
            self.report.restored.extend(self._disk.restore())
            self.report.unused_bytes = self._disk.unused_bytes

    def close(self) -> None:
        """Finishes queued writes to disk."""
        if self._disk is not None:
            self._disk.close()

    def take_loaded(self) -> set[str]:
        """Returns the requests whose asynchronous loads have ended since the last call."""
        loaded, self._loaded = self._loaded, set()
        return loaded

    def take_failed_blocks(self) -> set[int]:
        """Returns the blocks that could not be filled since the last call."""
        failed, self._failed_blocks = self._failed_blocks, set()
        return failed

    def take_report(self) -> WorkerReport | None:
        """Returns the report since the last call, or None if there is nothing to report."""
        if self._disk is not None:
            self.report.written.update(self._disk.take_written())
            self.report.refused += self._disk.take_refused()
            self.report.unwritten += self._disk.take_unwritten()
        if self.report.is_empty:
            return None
        report, self.report = self.report, WorkerReport()
        return report

    def _compare_with_engine(self, save: Save) -> None:
        self._is_compared = True
        try:
            compare_with_engine(self, save)
        except Exception as error:
            self._logger.exception("reprise: what is computed for reuse is not what vLLM computes")
            self.report.refusals.append(str(error))

    def _begin(self, load: Load) -> OpenLoad:
        """Writes stored rows to the pages immediately: in the next step their slots may belong to another segment."""
        tokens = torch.from_numpy(load.tokens).to(self.device)
        blocks = as_blocks(load.blocks, self.device)
        try:
            filled = self._fill(load, blocks)
        except Exception:
            self._faults.happened("filling", "a request's rows could not be reused, they are all computed", self.report)
            filled = Filled.nothing(load.begin, load.end, self.device)
        return OpenLoad(load, tokens, blocks, agree(self.pages, filled))

    def _fill(self, load: Load, blocks: torch.Tensor) -> Filled:
        filled = Filled.nothing(load.begin, load.end, self.device)
        held = []
        for piece in load.pieces:
            if self.stored.holds(piece, load.tokens[piece.start : piece.end]):
                held.append(piece)
                filled.take(piece, self.stored.spread(piece))
                continue
            self.report.missed[load.request_id] += piece.end - piece.start
            if piece.pages is None or not load.is_asynchronous:
                self.report.lost.add(piece.owner)
            # else: its pages may have been handed out after the claim and overwritten by this step's forward
        if held:
            self.stored.copy_to(blocks, held)
        return filled

    def _is_there(self, move: Move) -> bool:
        with self._or_lose([move]):
            if self.stored.are_unchanged(move.pages):
                return True
            self._lose(move.slots, move.owner)
        return False

    @contextmanager
    def _or_lose(self, moves: Sequence[Move]) -> Iterator[None]:
        """After a fault, marks the segments of these moves as lost, so that nothing uses them."""
        try:
            yield
        except Exception:
            self._faults.happened("storing", "segments were not stored", self.report)
            for move in moves:
                self._lose(move.slots, move.owner)

    def _lose(self, slots: np.ndarray | None, owner: int) -> None:
        if slots is not None:
            self.store.forget(torch.from_numpy(slots))
        self.report.lost.add(owner)

    def _choose(self, opened: OpenLoad) -> int:
        """Chooses the rows to compute. Returns how many rows could have been computed in that time."""
        load = opened.load
        opened.rows = torch.arange(load.begin, load.end, device=self.device)
        try:
            opened.rows = rows_to_compute(self.pages, load, opened.tokens, opened.blocks, opened.filled)
        except Exception:
            self._faults.happened(
                "choosing", "a request's rows could not be chosen, they are all computed", self.report
            )
        return load.asking

    def _compute(self, opened: OpenLoad, most: int) -> int:
        """Computes up to `most` of the remaining rows. Returns how many."""
        rows, opened.rows = opened.rows[:most], opened.rows[most:]
        if not len(rows):
            return 0
        try:
            self.forward.compute(opened.tokens, rows, opened.blocks)
        except Exception:
            self._faults.happened(
                "computing", "a request's rows could not be computed, vLLM computes them", self.report
            )
            self._leave_to_engine(opened)
        else:
            self._faults.none_happened()
        return len(rows)

    def _leave_to_engine(self, opened: OpenLoad) -> None:
        """Has vLLM compute the load's rows: they are no more than it would have computed without reuse."""
        load, size = opened.load, self._block_size
        self.report.missed[load.request_id] = load.end - load.begin
        self._failed_blocks.update(load.blocks[load.begin // size : -(-load.end // size)])
        opened.rows = opened.rows[:0]

    def _abort(self, request_id: str) -> None:
        for opened in list(self._open):
            if opened.load.request_id == request_id:
                self._open.remove(opened)
                self._loaded.add(request_id)
