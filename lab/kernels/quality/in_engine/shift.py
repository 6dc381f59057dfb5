"""`python -m quality.in_engine.shift`: whether a table learnt once per model corrects rows from other contexts.

Keys and values of a document after the system prompt alone differ from those in a full prompt. Part of the difference
is the same for all documents: it depends on the layer, the head, and a token's distance from where its prompt begins to
differ. The mean difference over some prompts is added to the rows of other prompts when they are loaded.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from quality.in_engine.engine import LONGEST, Engine
from quality.in_engine.measure import ANSWER_TOKENS, GROUP, Case, Measurements, measure, store
from quality.in_engine.prompts import SYSTEM, Asked, Trace
from quality.in_engine.report import write_report

_BUCKETS = torch.tensor([1, 2, 3, 4, 8, 16, 32, 64])
"""number of tokens between a token and its system prompt, in nine buckets: 0, 1, 2, 3, 4 to 7, …, 64 and more"""
RATIOS = (0.0, 0.15)
SHIFTED = ", shifted"


class ShiftTable:
    """Mean differences [layers, buckets, heads, size] between exact and stored rows, keys as at position 0."""

    def __init__(self, worker: Any, system_tokens: int) -> None:
        self._worker = worker
        self._system = system_tokens
        self._rotation = worker.stored.rotation
        row, _ = worker.pages.rows_of(0, torch.tensor([[1]]), 0, 1)
        shape = (worker.pages.layers, len(_BUCKETS) + 1, *row.shape[1:])
        self._keys, self._values, self._count = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape[1])
        self._seen: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, list]] = []
        self.is_learning = self.is_applied = False
        self._copy_to, worker.stored.copy_to = worker.stored.copy_to, self._copying
        self._compute, worker.forward.compute = worker.forward.compute, self._computing

    def forget(self) -> None:
        """Forgets everything learnt."""
        for tensor in (self._keys, self._values, self._count):
            tensor.zero_()

    def _copying(self, blocks: Sequence[Sequence[int]], pieces: Sequence[Any]) -> None:
        self._copy_to(blocks, pieces)
        moved = [piece for piece in pieces if not piece.is_exact]
        if not moved or not (self.is_learning or self.is_applied):
            return
        rows = torch.cat([torch.arange(piece.start, piece.end) for piece in moved])
        computed_at = torch.cat([self._computed_at(piece) for piece in moved])
        buckets = torch.bucketize((computed_at - self._system).clamp(min=0), _BUCKETS, right=True)
        blocks = torch.tensor(blocks)
        if self.is_learning:
            self._seen.append((blocks, rows, buckets, self._rows(blocks, rows)))
        else:
            self._apply(blocks, rows, buckets)

    def _computed_at(self, piece: Any) -> torch.Tensor:
        if piece.pages is None:
            return self._worker.store.positions[torch.from_numpy(piece.slots)].long()
        return torch.arange(piece.position, piece.position + len(piece.pages))

    def _computing(self, *given: Any) -> None:
        self._compute(*given)
        for blocks, rows, buckets, before in self._seen:
            self._count.index_add_(0, buckets, torch.ones(len(rows)))
            tables = self._rotation.tables(-rows)
            for layer, (new, old) in enumerate(zip(self._rows(blocks, rows), before, strict=True)):
                self._keys[layer].index_add_(0, buckets, self._rotation.turn(new[0] - old[0], tables))
                self._values[layer].index_add_(0, buckets, new[1] - old[1])
        self._seen.clear()

    def _rows(self, blocks: torch.Tensor, rows: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        end = int(rows.max()) + 1
        every = (self._worker.pages.rows_of(layer, blocks, 0, end) for layer in range(self._worker.pages.layers))
        return [(keys[rows], values[rows]) for keys, values in every]

    def _apply(self, blocks: torch.Tensor, rows: torch.Tensor, buckets: torch.Tensor) -> None:
        size = self._worker._block_size
        slots = blocks[0, rows // size] * size + rows % size
        share = 1 / self._count.clamp(min=1)[:, None, None]
        tables = self._rotation.tables(rows)
        for index, (keys, values) in enumerate(self._rows(blocks, rows)):
            keys = keys + self._rotation.turn((self._keys[index] * share)[buckets], tables)
            values = values + (self._values[index] * share)[buckets]
            layer, cache = self._worker.stored._layers[index], self._worker.stored._caches[index]
            layer.impl.do_kv_cache_update(layer, keys.contiguous(), values.contiguous(), cache, slots)


def main() -> None:
    """Learns from the first prompts of a trace, measures the next ones with and without the table, and reports."""
    options = _read_options()
    engine = Engine(options.model)
    table = ShiftTable(_worker(), len(engine.tokenizer.encode(SYSTEM, add_special_tokens=False)))
    kept = Measurements(options.out / "measured.jsonl")
    for folder in options.traces:
        trace = Trace(folder, engine.tokenizer, options.documents, options.seed, LONGEST - ANSWER_TOKENS)
        first, trace.asked = trace.asked[:GROUP], trace.asked[GROUP:]
        for stored in (kind + variant for kind in options.stored for variant in ("", SHIFTED)):
            table.is_applied = stored.endswith(SHIFTED)
            if table.is_applied:
                learn(engine, trace, first, stored, table)
            cases = [Case(stored, "attention-spread", ratio) for ratio in RATIOS]
            for line in measure(engine, trace, options.prompts, cases, kept, 1e9):
                print(f"{stored}, {line}", flush=True)
        table.is_applied = False
    print(write_report(options.out))


def learn(engine: Engine, trace: Trace, first: list[Asked], stored: str, table: ShiftTable) -> None:
    """Fills the table from prompts whose documents are stored in one way and then computed in full."""
    engine.forget()
    table.forget()
    store(engine, trace, first, stored, "learning")
    engine.choose_by("epic")
    table.is_applied, table.is_learning = False, True
    for asked in first:
        engine.answer(trace.prompt(asked), "learning", {"reuse": 1.0})
    table.is_applied, table.is_learning = True, False


def _worker() -> Any:
    from vllm.distributed.kv_transfer import get_kv_transfer_group

    return get_kv_transfer_group()._on_worker


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.in_engine.shift", description=main.__doc__)
    parser.add_argument("traces", nargs="+", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements, tables and plots")
    parser.add_argument("--prompts", type=int, default=16, help="a trace")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument(
        "--stored", nargs="+", choices=["alone", "live", "averaged"], default=["alone", "live", "averaged"]
    )
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
