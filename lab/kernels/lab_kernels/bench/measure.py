"""Times cases, and measures the machine's own ceilings in the same run."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import median

import torch
from triton.testing import do_bench

from lab_kernels.bench.case import Case, Run

# milliseconds per call: a median of at least 20 calls with a cold L2 cache
Timer = Callable[[Run, bool], float]
REPLAYS = 50
# larger than the L2 cache of any GPU
FLUSHED_BYTES = 256 << 20


@dataclass(frozen=True)
class Row:
    """The result of one case; a rival that could not run has a reason instead of milliseconds."""

    name: str
    milliseconds: float
    rate: float | None
    unit: str | None
    share: float | None
    rivals: dict[str, float]
    absent: dict[str, str]

    def as_json(self) -> dict[str, object]:
        """Returns the row for the JSON file."""
        return asdict(self)


def time_on_gpu(run: Run, graph: bool) -> float:
    """Returns the median time of a call in milliseconds: in a CUDA graph, or launched after clearing the L2 cache."""
    if graph:
        return _time_in_graph(run)
    once = do_bench(run, warmup=5, rep=1, return_mode="median")
    return float(do_bench(run, warmup=25, rep=max(100, int(25 * once)), return_mode="median"))


def _time_in_graph(run: Run) -> float:
    """Returns the median of single replays with a cold L2; triton's own timer replays many calls, all but one warm."""
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.int8, device="cuda")
    # what a first call compiles or copies cannot be captured
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(REPLAYS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        # the replay is queued while this runs, so its launch is not timed
        flushed.zero_()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return float(median(times))


def measure_ceilings(timer: Timer, size: int = 8192, device: str = "cuda") -> dict[str, float]:
    """Measures this machine's ceilings: FLOP/s of a large matrix product, bytes/s of a copy and of a (read-only) sum in
    the GPU, and of copies over the bus."""
    a, b = (torch.randn(size, size, device=device).bfloat16() for _ in range(2))
    block = torch.empty(32 * size * size, dtype=torch.int8, device=device)
    host = torch.empty(2 * size * size, dtype=torch.int8)
    host = host.pin_memory() if device == "cuda" else host
    part = block[: host.numel()]
    return {
        "flops": 2.0 * size**3 / timer(lambda: a @ b, False) * 1e3,
        "memory": 2.0 * block.numel() / timer(block.clone, False) * 1e3,
        "read": block.numel() / timer(block.view(torch.float32).sum, False) * 1e3,
        "to_device": host.numel() / timer(lambda: part.copy_(host, non_blocking=True), False) * 1e3,
        "to_host": host.numel() / timer(lambda: host.copy_(part, non_blocking=True), False) * 1e3,
    }


def measure(cases: Iterable[Case], ceilings: dict[str, float], timer: Timer, say: Callable[[str], None]) -> list[Row]:
    """Returns the row of each case. Raises what a check raises."""
    return [measure_one(case, ceilings, timer, say) for case in cases]


def measure_one(case: Case, ceilings: dict[str, float], timer: Timer, say: Callable[[str], None]) -> Row:
    """Checks the case, then times it. Raises what its check raises, so a wrong kernel gets no number."""
    say(case.name)
    case.check()
    milliseconds = timer(case.run, case.graph)
    rivals, absent = {}, {}
    for name, make in case.rivals.items():
        try:
            rivals[name] = timer(make(), case.graph)
        except Exception as error:
            # a backend that this machine lacks must not prevent the other figures
            absent[name] = first_line(error)
    return _row(case, milliseconds, ceilings, rivals, absent)


def first_line(error: Exception) -> str:
    """Returns the first line of the error's message, or its type if there is none."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _row(
    case: Case, milliseconds: float, ceilings: dict[str, float], rivals: dict[str, float], absent: dict[str, str]
) -> Row:
    work = case.flops if case.bound == "flops" else case.bytes
    if case.bound is None:
        return Row(case.name, milliseconds, None, None, None, rivals, absent)
    rate = work / milliseconds * 1e3
    unit, divisor = ("TFLOP/s", 1e12) if case.bound == "flops" else ("GB/s", 1e9)
    return Row(case.name, milliseconds, rate / divisor, unit, rate / ceilings[case.bound], rivals, absent)
