"""Chooses at start what is faster on this GPU: torch and the engine's operations, or those of reprise-kernels."""

from collections.abc import Callable, Mapping
from logging import Logger
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import torch

from reprise_reuse.pieces import Load, Piece, cache_slots
from reprise_reuse.prompts.claims import QUESTION_TOKENS
from reprise_reuse.rows.captured_passes import CapturedPasses, as_graphs
from reprise_reuse.rows.evidence import attend_in_place, attend_to_copies, attention_of_questions
from reprise_reuse.rows.fill_kernel import FillKernel
from reprise_reuse.rows.row_choice import OpenLoad
from reprise_reuse.rows.row_pass import compute_rows

if TYPE_CHECKING:
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

KERNELS = "reprise-kernels"
GRAPHS = "graphs"
_QUESTION, _CONTEXT, _SHIFT = 32, 16_384, 7
_PROMPT, _ROWS = 1024, 192
_RUNS = 9


def choose_kernels(worker: "ReuseWorker", blocks: int, block_size: int, logger: Logger) -> None:
    """Has the worker use kernels of reprise-kernels where they are faster and compute the same. Does nothing on a CPU.

    Overwrites the first layer's rows in the pages, so it must run before any request. A fault leaves things as they
    are.
    """
    if worker.device.type != "cuda" or not all(sight.is_everything for sight in worker.pages.sights):
        # the kernels know one table of blocks, no windows and no sinks
        return
    try:
        questions = ways_to_ask(worker, blocks, block_size)
        worker.pages.reads_in_place = fastest("the question's attention", questions, milliseconds, logger) == KERNELS
        kernel, fills = ways_to_fill(worker, blocks, block_size)
        if fastest("the filling of pages", fills, milliseconds, logger) == KERNELS:
            worker.stored.kernel = kernel
    except Exception:
        logger.exception("reprise: which kernels are faster cannot be measured; none of reprise-kernels is used")
    # tensor-parallel ranks add up within a pass, which a graph of ours would have to share with vLLM's
    if worker.pages.reads_in_place and worker.pages.ranks == 1:
        try:
            captured = CapturedPasses(worker.pages, worker.device, worker.longest, as_graphs(worker.device))
            passes = ways_to_pass(worker, captured, blocks, block_size)
            if fastest("the launching of passes", passes, milliseconds, logger) == GRAPHS:
                worker.pages.captured = captured
        except Exception:
            logger.exception("reprise: passes over the model cannot be captured; they are launched kernel by kernel")


def ways_to_ask(worker: "ReuseWorker", blocks: int, block_size: int) -> dict[str, Callable[[], torch.Tensor]]:
    """Returns what computes a question's attention to random rows of the first layer: output and scores, flat."""
    layer, device = worker.layer, worker.device
    # block 0 is vLLM's null block
    used = list(range(1, min(_CONTEXT // block_size, blocks - 1) + 1))
    known = len(used) * block_size
    shape = (layer.num_kv_heads, layer.head_size)
    draw = _drawing(worker)
    worker.stored.fill_pages(0, torch.tensor(used, device=device), *(draw(known, shape[0]) for _ in "kv"))
    asked = draw(_QUESTION, layer.num_heads), *(draw(_QUESTION, shape[0]) for _ in "kv")
    question = list(range(known, known + _QUESTION))
    load = Load("choosing", np.empty(0), [used], known, known, [], question, 0, "", is_asynchronous=False)
    opened = [OpenLoad.of(load, block_size, device)]

    def way(attend_by: Callable) -> Callable[[], torch.Tensor]:
        # what all layers share is made once for a question
        scores = torch.zeros(1, 1, known, device=device)
        attend = attend_by(worker.pages, opened, scores)

        output = torch.empty_like(asked[0])

        def run() -> torch.Tensor:
            scores.zero_()
            attend(0, *asked, output)
            return torch.cat((output.float().flatten(), scores.flatten()))

        return run

    return {"torch": way(attend_to_copies), KERNELS: way(attend_in_place)}


def ways_to_fill(
    worker: "ReuseWorker", blocks: int, block_size: int
) -> tuple[FillKernel, dict[str, Callable[[], torch.Tensor]]]:
    """Returns the kernel, and what fills pages from others, of which the first layer's hold random rows."""
    count = min(_CONTEXT // block_size, (blocks - 1) // 2)
    source, target = (list(range(1 + first, 1 + first + count)) for first in (0, count))
    length, draw = count * block_size, _drawing(worker)
    rows = (draw(length, worker.layer.num_kv_heads) for _ in "kv")
    worker.stored.fill_pages(0, torch.tensor(source, device=worker.device), *rows)
    pages = cache_slots(source, length, block_size)
    piece = Piece(0, length, None, 0, pages=pages, position=_SHIFT)
    load = Load("choosing", np.empty(0), [target], 0, length, [piece], [], 0, "", is_asynchronous=False)
    at = torch.tensor([target], device=worker.device)
    kernel = worker.fill_kernel()

    def way(chosen: FillKernel | None) -> Callable[[], torch.Tensor]:
        def run() -> torch.Tensor:
            worker.stored.kernel = chosen
            try:
                worker.stored.fill(load)
            finally:
                worker.stored.kernel = None
            return torch.cat([one.flatten() for one in worker.pages.rows_of(0, at, 0, length)])

        return run

    return kernel, {"the engine's operations": way(None), KERNELS: way(kernel)}


def ways_to_pass(
    worker: "ReuseWorker", captured: CapturedPasses, blocks: int, block_size: int
) -> dict[str, Callable[[], torch.Tensor]]:
    """Returns what asks a question and computes rows of a prompt: its scores and the last layer's rows, flat."""
    used = list(range(1, min(_PROMPT // block_size, blocks - 1) + 1))
    length = len(used) * block_size
    question = list(range(length, length + QUESTION_TOKENS))
    tokens = np.arange(length + QUESTION_TOKENS, dtype=np.int32) % 97
    load = Load("choosing", tokens, [used], length, length, [], question, 0, "", is_asynchronous=False)
    opened = OpenLoad.of(load, block_size, worker.device)
    # as many as a graph has, so that the model multiplies the same matrices
    rows = torch.linspace(0, length - 1, min(_ROWS, length), device=worker.device).long()

    def way(chosen: CapturedPasses | None) -> Callable[[], torch.Tensor]:
        def run() -> torch.Tensor:
            worker.pages.captured = chosen
            try:
                compute_rows(worker.pages, [(opened, rows)])
                (scores,) = attention_of_questions(worker.pages, [opened])
            finally:
                worker.pages.captured = None
            keys, values = worker.pages.rows_of(worker.pages.layers - 1, opened.blocks, 0, length)
            # mean weights, as if each were of one token
            return torch.cat([one.float().flatten() for one in (scores * length, keys[rows], values[rows])])

        return run

    return {"launches one by one": way(None), GRAPHS: way(captured)}


def fastest(
    what: str,
    ways: Mapping[str, Callable[[], torch.Tensor]],
    time: Callable[[Callable[[], object]], float],
    logger: Logger,
) -> str:
    """Returns the fastest way by `time` (milliseconds) of those that give what the first one gives."""
    first, *others = ways
    expected = ways[first]().float()
    largest = expected.abs().max().clamp(min=1e-9)
    times = {first: time(ways[first])}
    for name in others:
        try:
            error = float((ways[name]().float() - expected).abs().max() / largest)
            # also false if it is no number
            if error < 0.02:
                times[name] = time(ways[name])
            else:
                logger.warning("reprise: %s is not left to %s, which is off by %.1e", what, name, error)
        except Exception as fault:
            logger.warning("reprise: %s is not left to %s: %s", what, name, fault)
    chosen = min(times, key=lambda name: times[name])
    measured = ", ".join(f"{name} {taken:.3f} ms" for name, taken in times.items())
    logger.info("reprise: %s is left to %s: %s", what, chosen, measured)
    return chosen


def milliseconds(run: Callable[[], object]) -> float:
    """Returns the median time that the GPU takes for `run`, after a run that compiles."""
    run()
    taken = []
    for _ in range(_RUNS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end))
    return median(taken)


def _drawing(worker: "ReuseWorker") -> Callable[[int, int], torch.Tensor]:
    random = torch.Generator(worker.device).manual_seed(0)

    def draw(count: int, heads: int) -> torch.Tensor:
        numbers = torch.randn(count, heads, worker.layer.head_size, generator=random, device=worker.device)
        return numbers.to(worker.store.shape.dtype)

    return draw
