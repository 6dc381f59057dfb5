"""The self-test that must pass before anything is reused. It runs at startup, on the real model and pages."""

from functools import partial
from logging import Logger

import numpy as np
import torch

from reprise_reuse.host_store import Rows
from reprise_reuse.pieces import GroupBlocks, Load, Piece, Save, as_blocks, cache_slots
from reprise_reuse.rows.evidence import as_rows, attend_to_rows
from reprise_reuse.rows.worker import Worker

_OWNER = -2
_SHIFT = 7
_LEAST = 64
"""tokens of the prompt, whatever the size of a block"""
_COMPARED = 32
"""last rows of a prompt that are compared with the engine's, which always computes them itself"""


class NotProvenError(Exception):
    """What this engine computes for reuse is not what it computes itself; the message says how it differs."""


def prove_reuse(worker: Worker, vocabulary: int, block_size: int, blocks: int) -> None:
    """Raises `NotProvenError` unless, on a random prompt,

    - stored rows come back at the position where they were computed: bit for bit, or within rounding if stored in fewer
      bits; from the engine's own pages always bit for bit,
    - keys rotated to another position equal every layer's keys there, and values do not depend on the position, and
    - a prompt whose rows are all recomputed over stored ones has the keys and values of a freshly computed prompt.
    """
    length = max(2 * block_size, _LEAST) + _SHIFT
    needed = -(-(length + _SHIFT) // block_size)
    groups = worker.pages.groups
    if blocks < 2 * groups * needed + 1 or worker.store.slots < length:
        raise NotProvenError(f"the self-test needs {2 * groups * needed + 1} blocks and {length} tokens of host memory")
    random = np.random.default_rng(0)
    here, there = two_requests(groups, needed)
    tokens = random.integers(0, vocabulary, length).astype(np.int32)
    moved = np.concatenate([random.integers(0, vocabulary, _SHIFT).astype(np.int32), tokens])
    slots = np.arange(length)
    _load(worker, tokens, here)
    worker.stored.save(Save(tokens, here, [Piece(0, length, slots, _OWNER)]))
    try:
        _load(worker, tokens, there, Piece(0, length, slots, _OWNER, is_exact=True))
        rounding = worker.store.shape.error
        if _error(worker, here, there, 0, length) > rounding:
            raise NotProvenError("stored rows do not come back as they were")
        # so that nothing from the first check is left
        _load(worker, moved, there)
        if not worker.pages.have_windows:
            in_pages = Piece(0, length, None, _OWNER, is_exact=True, pages=cache_slots(here[0], length, block_size))
            worker.stored.save(Save(tokens, here, [in_pages]))
            _load(worker, tokens, there, in_pages)
            if _error(worker, here, there, 0, length) > 0:
                raise NotProvenError("rows do not come back from the engine's pages as they were")
        longest = min(worker.longest, worker.stored.rotation.positions)
        for by in (_SHIFT, max(_SHIFT, longest - length)):
            _prove_turns(worker, tokens, by)
        _load(worker, moved, here)
        piece = Piece(_SHIFT, _SHIFT + length, slots, _OWNER)
        _load(worker, moved, there, piece)
        tolerance = _tolerance(worker)
        if (error := _error(worker, here, there, _SHIFT, len(moved), 1, _rounding(worker))) > tolerance + 2 * rounding:
            raise NotProvenError(f"keys turned to another place are off by {error:.1e}")
        _load(worker, moved, there, piece, budget=length)
        if (error := _error(worker, here, there, 0, len(moved), rounding=_rounding(worker))) > tolerance:
            raise NotProvenError(f"a prompt computed again over stored rows is off by {error:.1e}")
    finally:
        worker.store.forget(torch.from_numpy(slots))


def two_requests(groups: int, blocks: int) -> tuple[GroupBlocks, GroupBlocks]:
    """Returns so many blocks for each group of layers, for two requests, and none of them the null block."""
    every = (1 + np.arange(2 * groups * blocks)).reshape(2, groups, blocks).tolist()
    return every[0], every[1]


def _prove_turns(worker: Worker, tokens: np.ndarray, by: int) -> None:
    """Raises `NotProvenError` unless each layer's keys, turned to another position, are its keys there.

    Each token attends to itself alone, so in every layer nothing but its position differs.
    """
    given = torch.from_numpy(tokens).to(worker.device)
    here = torch.arange(len(tokens), device=worker.device)
    turn = worker.stored.rotation.turning(torch.full_like(here, by))
    layers = zip(_alone(worker, given, here), _alone(worker, given, here + by), strict=True)
    for number, ((keys, values), (moved_keys, moved_values)) in enumerate(layers):
        turned, pairs = turn(number, keys), partial(worker.stored.rotation.pairs, number)
        # each pair of dimensions by itself, so that a large one hides nothing; values do not turn
        apart, whole = (
            torch.stack(pairs(one.float().square().sum((0, 1)))).sum(0) for one in (turned - moved_keys, moved_keys)
        )
        error = max(float((apart / whole.clamp(min=1e-18)).max().sqrt()), _difference(turned, moved_keys))
        # angles in tables of float32 are the less exact the larger they are
        rounding = max(1e-3, 8 * torch.finfo(keys.dtype).eps) + by * torch.finfo(torch.float32).eps
        if max(error, _difference(values, moved_values)) > rounding:
            raise NotProvenError(f"keys of layer {number} turned to another place are off by {error:.1e}")


def _alone(worker: Worker, tokens: torch.Tensor, positions: torch.Tensor) -> Rows:
    """Returns each layer's keys and values of tokens that attend to nothing but themselves."""
    rows: Rows = []
    shape = (-1, worker.layer.num_kv_heads, worker.layer.head_size)

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        rows.append((k.reshape(shape).clone(), v.reshape(shape).clone()))
        every = rows[-1][1].repeat_interleave(worker.layer.num_heads // worker.layer.num_kv_heads, 1)
        output.copy_(every.view(output.shape))

    worker.forward.ask(tokens, positions, attend)
    return rows


def refuse_unless_like_engine(worker: Worker, save: Save, logger: Logger) -> None:
    """Ends reuse by a refusal in the worker's report if `compare_with_engine` fails, the first time it is called."""
    if worker.is_compared:
        return
    worker.is_compared = True
    try:
        compare_with_engine(worker, save)
    except Exception as error:
        logger.exception("reprise: what is computed for reuse is not what the engine computes")
        worker.report.refusals.append(str(error))


def compare_with_engine(worker: Worker, save: Save) -> None:
    """Raises `NotProvenError` unless our forwards give the keys and values that the engine's own step produced.

    Runs the end of the first prompt that the engine has computed through the model again, with plain attention to its
    pages and without writing any. This compares what all our forwards have in common with the engine's, also if what
    comes before these rows was loaded.
    """
    length = len(save.tokens)
    begin = max(save.computed_from, length - _COMPARED)
    blocks = as_blocks(save.blocks, worker.device)
    every = torch.arange(length, device=worker.device)
    at = every[begin:]
    worst = 0.0

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        nonlocal worst
        keys, values = worker.pages.rows_of(layer, blocks, 0, length)
        for ours, engines in ((as_rows(k, keys), keys[begin:]), (as_rows(v, values), values[begin:])):
            worst = max(worst, _difference(ours, engines, _rounding(worker)))
        attend_to_rows(worker.pages, layer, q, (keys, values), worker.pages.sights[layer].sees(at, every), output)

    worker.forward.ask(torch.from_numpy(save.tokens[begin:]).to(worker.device), at, attend)
    if worst > _tolerance(worker):
        raise NotProvenError(f"rows that the engine has computed come out different here, by {worst:.1e}")


def _load(worker: Worker, tokens: np.ndarray, blocks: GroupBlocks, *pieces: Piece, budget: int = 0) -> None:
    """Fills a prompt's rows as far as its only piece, or computes all of them if there is none."""
    end = pieces[0].end if pieces else len(tokens)
    load = Load("self-test", tokens, blocks, 0, end, pieces, [], budget, "epic", is_asynchronous=False)
    if not worker.load_now(load):
        raise NotProvenError(f"a load of the self-test failed: {', '.join(worker.report.faults) or 'rows were lost'}")


def _error(
    worker: Worker, here: GroupBlocks, there: GroupBlocks, begin: int, end: int, layers: int = 0,
    rounding: float = 0.0,
) -> float:  # fmt: skip
    """Returns the largest difference of keys and values in two places, relative to the largest expected number."""
    worst = 0.0
    for layer in range(layers or worker.pages.layers):
        ours = worker.pages.rows_of(layer, as_blocks(there, worker.device), begin, end)
        expected = worker.pages.rows_of(layer, as_blocks(here, worker.device), begin, end)
        for a, b in zip(ours, expected, strict=True):
            worst = max(worst, _difference(a, b, rounding))
    return worst


def _difference(a: torch.Tensor, b: torch.Tensor, rounding: float = 0.0) -> float:
    """Returns the largest difference beyond what rounding each number explains, relative to the largest number."""
    beyond = (a - b).abs() - rounding * b.abs()
    return float(beyond.max().clamp(min=0) / b.abs().max().clamp(min=1e-9))


def _rounding(worker: Worker) -> float:
    # keys of fp8 are rounded, turned and rounded again, and so is what they are compared with
    return 1.5 * worker.layout.rounding


def _tolerance(worker: Worker) -> float:
    if worker.layout.rounding or worker.store.shape.dtype != torch.float32:
        return 0.1
    # the attention kernels of GPUs multiply float32 in TF32, which has the 11 bits of float16
    return 1e-3 if worker.device.type == "cpu" else 2e-2
