"""Measures at the start what the parts of loads and of prefills take on this device."""

import time
from collections.abc import Callable, Sequence
from logging import Logger
from typing import NamedTuple, TypeVar

import numpy as np
import torch

from reprise_reuse.costs import Costs, Forward, fit
from reprise_reuse.device import Clock
from reprise_reuse.methods import METHODS
from reprise_reuse.pieces import GroupBlocks, Load, Piece, Save, cache_slots
from reprise_reuse.rows.engine_parts import Requests
from reprise_reuse.rows.row_choice import OpenLoad
from reprise_reuse.rows.row_pass import compute_rows
from reprise_reuse.rows.worker import Worker
from reprise_reuse.start.prove_reuse import NotProvenError, two_requests

Measured = TypeVar("Measured", bound=tuple)

MOST_SECONDS = 2.0
"""each kind of measurement goes on to a larger size only while it has taken less than a quarter of this"""
_LEAST, _MOST = 64, 4096
_LONGEST = 4 * _MOST
"""tokens of the context before many rows"""
_TELLING = 1.25
"""a forward shows what its rows cost only if it takes this many times as long as that of a single row"""
_QUESTION = 32
_RUNS = 2
_OWNER = -3


class Loaded(NamedTuple):
    """Seconds of loads of so many rows."""

    rows: int
    filling: float
    """from pages"""
    from_host: float
    question: float


def measure_costs(worker: Worker, vocabulary: int, block_size: int, blocks: int, logger: Logger) -> Costs:
    """Returns what was measured on random tokens; all ranks return the same. Overwrites the pages and host memory.

    Must run before any request. Sizes grow until pages, host memory, the model's positions or the time end.
    """
    groups = worker.pages.groups
    half = (blocks - 1) // (2 * groups)
    context = min(half * block_size, worker.pages.positions - _QUESTION, _LONGEST)
    largest = min(context, worker.store.slots, _MOST)
    tokens = np.random.default_rng(0).integers(0, vocabulary, context).astype(np.int32)
    here, there = two_requests(groups, half)

    def forward(rows: np.ndarray) -> tuple[np.ndarray, float]:
        return rows, _shortest(worker, lambda: _compute(worker, tokens, rows, here, block_size))[0]

    def prefill(rows: np.ndarray) -> tuple[np.ndarray, float]:
        return rows, _shortest(worker, lambda: _prefill(worker, tokens, rows, here, block_size))[0]

    _, least = forward(np.arange(1))
    # few rows anywhere show what keys and runs cost, in a fraction of a prefill's time
    forwards = [forward(rows) for rows in _few_rows(largest)]
    sizes = [_LEAST << n for n in range(16)]
    forwards += _while_time(sizes, largest, lambda size: forward(np.arange(size)))
    engine = None
    if worker.pages.reads_in_place:
        # on a GPU few rows take as long as one: what keys cost shows where many rows attend to many
        many = np.arange(max(0, context - _MOST // 4), context)
        forwards.append(forward(many))
        prefills = [prefill(many), *_while_time(sizes, largest, lambda size: prefill(np.arange(size)))]
        engine = _forward_of(prefills, prefill(np.arange(1))[1], has_runs=False)
    loads = _while_time(
        [4 * _LEAST << 2 * n for n in range(8)], largest,
        lambda size: _measure_load(worker, tokens[:size], here, there, block_size),
    )  # fmt: skip
    if worker.report.faults:
        raise NotProvenError("what the parts of loads take cannot be measured: a load failed")
    costs = costs_of(forwards, least, loads, engine)
    logger.info(
        "reprise: measured up to %d rows in a forward and %d in a load: a prefill of 1,000 tokens takes %.1f ms, the "
        "question's pass over them %.1f ms, filling them %.1f ms; no forward takes less than %.1f ms",
        max(len(rows) for rows, _ in forwards), loads[-1].rows, 1e3 * costs.prefill(0, 1000),
        1e3 * (costs.question + 1000 * costs.question_key), 1e3 * (costs.filling + 1000 * costs.filled_row),
        1e3 * costs.least,
    )  # fmt: skip
    return costs


def costs_of(
    forwards: Sequence[tuple[np.ndarray, float]], least: float, loads: Sequence[Loaded], engine: Forward | None = None
) -> Costs:
    """Returns the costs that explain measurements best.

    forwards  the rows of each forward, ascending, and its seconds
    least     seconds of the smallest forward
    engine    what the engine's own forwards take, if they compute in another way
    """
    of_loads = [(1, one.rows) for one in loads]
    filling, filled_row = fit(of_loads, [one.filling for one in loads])
    host_row = max(0.0, (loads[-1].from_host - filling) / loads[-1].rows)
    question, question_key = fit(of_loads, [one.question for one in loads])
    rows = _forward_of(forwards, least, has_runs=engine is None)
    return Costs(
        rows.row, rows.pair, rows.run, rows.start, rows.least, question, question_key, filling, filled_row, host_row,
        engine,
    )  # fmt: skip


def _forward_of(forwards: Sequence[tuple[np.ndarray, float]], least: float, *, has_runs: bool) -> Forward:
    """has_runs: whether each run of neighbouring rows reads the keys before it by itself"""
    telling = [one for one in forwards if one[1] > _TELLING * least] or [max(forwards, key=lambda one: len(one[0]))]
    sizes = [(len(rows), int((rows + 1).sum()), 1, int(rows[_begin_runs(rows)].sum())) for rows, _ in telling]
    row, pair, start, *run = fit([one if has_runs else one[:3] for one in sizes], [seconds for _, seconds in telling])
    return Forward(row, pair, *(run or [0.0]), start, least)


def _few_rows(largest: int) -> list[np.ndarray]:
    """Returns 64 rows at the end of a context, and 64 in pairs all over it; both also for a quarter of the context."""
    rows = []
    for context in {max(min(_LEAST, largest), largest // 4), largest}:
        pairs = np.linspace(0, context - 2, _LEAST // 2).astype(np.int64)
        rows += [np.arange(max(0, context - _LEAST), context), np.unique(np.concatenate([pairs, pairs + 1]))]
    return rows


def _while_time(sizes: Sequence[int], largest: int, measure: Callable[[int], Measured]) -> list[Measured]:
    """Returns measurements of ascending sizes up to the largest, at least one, while time is left."""
    measured, spent = [], 0.0
    for size in [one for one in sizes if one < largest] + [largest]:
        measured.append(measure(size))
        # as all ranks have measured it
        spent += (_RUNS + 1) * sum(measured[-1][1:])
        if spent > MOST_SECONDS / 4:
            break
    return measured


def _measure_load(worker: Worker, tokens: np.ndarray, here: GroupBlocks, there: GroupBlocks, block_size: int) -> Loaded:
    size = len(tokens)
    slots = np.arange(size)
    # two segments, like two documents
    cuts = [(0, size // 2), (size // 2, size)]
    pages = cache_slots(here[0], size, block_size)
    on_host = [Piece(*cut, slots[slice(*cut)], _OWNER) for cut in cuts]
    # where some layers see a window only, segments are never left in pages
    in_pages = on_host if worker.pages.have_windows else [
        Piece(*cut, None, _OWNER, pages=pages[slice(*cut)], position=cut[0] + 1) for cut in cuts
    ]  # fmt: skip
    for pieces in (in_pages, on_host):
        worker.stored.save(Save(tokens, here, pieces))
    try:
        asked = max(0, size - _QUESTION)
        _, *of_pages = _shortest(worker, lambda: worker.load_now(_load(tokens, there, in_pages, asked)))
        _, *of_host = _shortest(worker, lambda: worker.load_now(_load(tokens, there, on_host, asked)))
    finally:
        worker.store.forget(torch.from_numpy(slots))
    return Loaded(size, of_pages[0], of_host[0], min(of_pages[1], of_host[1]))


def _load(tokens: np.ndarray, blocks: GroupBlocks, pieces: list[Piece], asked: int) -> Load:
    method = next(name for name, one in METHODS.items() if one.reads_question)
    question = list(range(asked, len(tokens)))
    return Load("costs", tokens, blocks, 0, len(tokens), pieces, question, 1, method, is_asynchronous=False)


def _begin_runs(rows: np.ndarray) -> np.ndarray:
    """Returns which of these rows (int64 [n], ascending) begin a run of neighbours; bool [n]."""
    return np.diff(rows, prepend=-2) != 1


def _compute(worker: Worker, tokens: np.ndarray, rows: np.ndarray, blocks: GroupBlocks, block_size: int) -> None:
    opened = OpenLoad.of(_load(tokens, blocks, [], 0), block_size, worker.device)
    compute_rows(worker.pages, [(opened, torch.from_numpy(rows).to(worker.device))])


def _prefill(worker: Worker, tokens: np.ndarray, rows: np.ndarray, blocks: GroupBlocks, block_size: int) -> None:
    """Computes neighbouring rows by the engine's own attention."""
    opened = OpenLoad.of(_load(tokens, blocks, [], 0), block_size, worker.device)
    at = torch.from_numpy(rows).to(worker.device)
    requests = Requests([opened.blocks], [len(rows)])
    worker.forward.compute(opened.tokens[at], at, requests)


def _shortest(worker: Worker, run: Callable[[], object]) -> list[float]:
    """Returns the shortest times of a run, of its filling and of its question: of a few, after one that compiles.

    They are the mean over tensor-parallel ranks: all must compute the same slices.
    """
    taken = []
    for _ in range(_RUNS + 1):
        worker.clock, began = Clock(worker.device), time.perf_counter()
        run()
        if worker.device.type == "cuda":
            torch.cuda.synchronize(worker.device)
        seconds, phases = time.perf_counter() - began, worker.clock.take()
        taken.append((seconds, phases["filling"], phases["question"]))
    worker.clock = Clock(worker.device)
    shortest = [min(times) for times in zip(*taken[1:], strict=True)]
    own = torch.tensor(shortest, dtype=torch.float32, device=worker.device)
    # a time of nothing would be no measurement
    return (worker.pages.sum_over_ranks(own) / worker.pages.ranks).clamp(min=1e-9).tolist()
