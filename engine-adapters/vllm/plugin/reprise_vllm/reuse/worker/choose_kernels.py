"""Chooses at start what is faster on this GPU: torch and the engine's operations, or those of reprise-kernels."""

from collections.abc import Callable, Mapping
from logging import Logger
from statistics import median
from typing import TYPE_CHECKING

import torch

from reprise_reuse.kernel_rotation import KernelRotation
from reprise_vllm.reuse.worker.evidence import attend_in_place, attend_to_copies

if TYPE_CHECKING:
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker

KERNELS = "reprise-kernels"
_QUESTION, _CONTEXT = 32, 16_384
_RUNS = 9


def choose_kernels(worker: "ReuseWorker", blocks: int, block_size: int, logger: Logger) -> None:
    """Has the worker use kernels of reprise-kernels where they are faster and compute the same. Does nothing on a CPU.

    Overwrites the first layer's rows in the pages, so it must run before any request. A fault leaves things as they
    are.
    """
    if worker.device.type != "cuda":
        return
    try:
        questions = ways_to_ask(worker, blocks, block_size)
        worker.pages.reads_in_place = fastest("the question's attention", questions, milliseconds, logger) == KERNELS
        rotations = ways_to_turn(worker)
        if fastest("the rotation of keys", rotations, milliseconds, logger) == KERNELS:
            worker.stored.rotation = _kernel_rotation(worker)
    except Exception:
        logger.exception("reprise: which kernels are faster cannot be measured; none of reprise-kernels is used")


def ways_to_ask(worker: "ReuseWorker", blocks: int, block_size: int) -> dict[str, Callable[[], torch.Tensor]]:
    """Returns what computes a question's attention to random rows of the first layer: output and scores, flat."""
    layer, device, dtype = worker.layer, worker.device, worker.store.shape.dtype
    # block 0 is vLLM's null block
    used = min(_CONTEXT // block_size, blocks - 1)
    at, known = torch.arange(1, used + 1, device=device), torch.ones(used * block_size, dtype=torch.bool, device=device)
    shape = (layer.num_kv_heads, layer.head_size)
    random = torch.Generator(device).manual_seed(0)

    def draw(count: int, heads: int) -> torch.Tensor:
        return torch.randn(count, heads, shape[1], generator=random, device=device).to(dtype)

    worker.stored.fill_pages(0, at, *(draw(len(known), shape[0]) for _ in "kv"))
    asked = draw(_QUESTION, layer.num_heads), *(draw(_QUESTION, shape[0]) for _ in "kv")

    def way(attend_by: Callable) -> Callable[[], torch.Tensor]:
        # what all layers share is made once for a question
        scores = torch.zeros(1, len(known), device=device)
        attend = attend_by(worker.pages, at, known, _QUESTION, scores)

        def run() -> torch.Tensor:
            scores.zero_()
            output = attend(0, *asked)
            return torch.cat((output.float().flatten(), scores.flatten()))

        return run

    return {"torch": way(attend_to_copies), KERNELS: way(attend_in_place)}


def ways_to_turn(worker: "ReuseWorker") -> dict[str, Callable[[], torch.Tensor]]:
    """Returns what turns random keys of one layer."""
    layer, device = worker.layer, worker.device
    engines, ours = worker.stored.rotation, _kernel_rotation(worker)
    random = torch.Generator(device).manual_seed(0)
    keys = torch.randn(_CONTEXT, layer.num_kv_heads, layer.head_size, generator=random, device=device)
    keys = keys.to(worker.store.shape.dtype)
    distances = torch.arange(_CONTEXT, device=device) % engines.positions
    tables = engines.tables(distances)
    return {"the engine's operation": lambda: engines.turn(keys, tables), KERNELS: lambda: ours.turn(keys, tables)}


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
    logger.info("reprise: %s is left to %s; for a layer: %s", what, chosen, measured)
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


def _kernel_rotation(worker: "ReuseWorker") -> KernelRotation:
    cos_sin, is_neox = worker.rotary
    return KernelRotation(cos_sin, is_neox=is_neox)
