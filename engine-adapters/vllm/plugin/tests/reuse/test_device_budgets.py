"""What a load costs a GPU: launches, bytes, and looks at the device, counted without one."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from launch_counting import Counting
from reuse_model import BLOCK, ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from vllm.model_executor.custom_op import CustomOp

from reprise_reuse.host_store import HostStore, RowShape
from reprise_reuse.pieces import Load, Piece, Save, cache_slots
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows import stored_rows
from reprise_reuse.rows.captured_passes import CapturedPasses
from reprise_reuse.rows.evidence import PromptPages
from reprise_reuse.rows.fill_kernel import FillKernel
from reprise_reuse.rows.row_choice import OpenLoad, choose_rows
from reprise_reuse.rows.row_pass import compute_rows
from reprise_reuse.rows.stored_rows import StoredRows
from reprise_vllm.engine.page_layout import InPlace, PageLayout

HEADS, GROUP, DIM, SIZE = 8, 4, 128, 16
KERNELS = {
    "reprise_kernels.kv_fill.kv_fill": lambda *given, **more: None,
    "reprise_kernels.question_scores.question_scores": lambda *given, **more: None,
    "reprise_kernels.sparse_prefill_attention.sparse_prefill_attention": lambda q, *given, **more: (
        None,
        torch.empty(q.shape[:2], device=q.device),
    ),
}


@pytest.fixture
def gpu_kernel_doubles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for kernels, which need a GPU: they do nothing, and each launch leaves its name in the list."""
    launched: list[str] = []

    def counted(name: str, double: Callable) -> Callable:
        def launch(*given: Any, **more: Any) -> Any:
            launched.append(name.rpartition(".")[2])
            return double(*given, **more)

        return launch

    for name, double in KERNELS.items():
        monkeypatch.setattr(name, counted(name, double))
    return launched


class FlagsOfGpuDouble:
    """Stands in for a copy to pinned memory and an event, which need a GPU: nobody may read it here."""

    def __init__(self, flags: torch.Tensor) -> None:
        assert flags.dtype == torch.bool


@pytest.fixture
def gpu_double(monkeypatch: pytest.MonkeyPatch, gpu_kernel_doubles: list[str]) -> Iterator[torch.device]:
    """A GPU on which nothing has values: whoever looks at one fails."""
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    monkeypatch.setattr(stored_rows, "DeviceFlags", FlagsOfGpuDouble)
    with FakeTensorMode(allow_non_fake_inputs=True):
        yield torch.device("cuda")


def write(_layer: object, keys: torch.Tensor, values: torch.Tensor, cache: torch.Tensor, at: torch.Tensor) -> None:
    cache.transpose(1, 2)[at // SIZE, at % SIZE] = torch.cat((keys, values), -1)


class WorkerDouble:
    """A worker whose model does nothing but ask for attention in each layer."""

    def __init__(self, layers: int, blocks: int, device: torch.device) -> None:
        layer = SimpleNamespace(
            num_kv_heads=HEADS, head_size=DIM, impl=SimpleNamespace(do_kv_cache_update=write), num_heads=HEADS * GROUP
        )
        shape = (blocks, HEADS, SIZE, 2 * DIM)
        with unset_fake_temporarily():
            layout = PageLayout(layer, torch.zeros(shape, dtype=torch.bfloat16), blocks, SIZE)
            store = HostStore(
                0, RowShape(layers, HEADS, DIM, torch.bfloat16), KeyRotation(torch.ones(9, DIM), is_neox=True)
            )
        rotation = KeyRotation(torch.ones(40_000, DIM, device=device), is_neox=True)
        caches = [torch.empty(shape, dtype=torch.bfloat16, device=device) for _ in range(layers)]
        self.stored = StoredRows([layer] * layers, caches, layout, blocks, rotation, store)
        self.passes: list[str] = []
        forward = SimpleNamespace(ask=self._ask, write=self._write, most_rows=8192)
        self.pages = PromptPages(forward, layout, caches, DIM**-0.5, 40_000, 1)
        self.pages.reads_in_place = True
        self._layers, self._device = layers, device

    def _ask(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Callable) -> None:
        self.passes.append("question")
        self._attend(len(tokens), attend)

    def _write(self, tokens: torch.Tensor, positions: torch.Tensor, slots: torch.Tensor, attend: Callable) -> None:
        assert len(tokens) == len(positions) == len(slots)
        self.passes.append("rows")
        self._attend(len(tokens), attend)

    def _attend(self, count: int, attend: Callable) -> None:
        q = torch.empty(count, HEADS * GROUP * DIM, dtype=torch.bfloat16, device=self._device)
        kv = torch.empty(count, 2 * HEADS * DIM, dtype=torch.bfloat16, device=self._device)
        for layer in range(self._layers):
            attend(layer, q, *kv.split(HEADS * DIM, 1), torch.empty_like(q))


def load_of(pieces: int, ratio: float, method: str = "attention-spread", tokens: int = 4096) -> Load:
    """A prompt of which all but its last 64 tokens and a gap of 100 are in pages."""
    end, blocks = tokens - 64, tokens // SIZE
    borders = np.linspace(100, end, pieces + 1).astype(int).tolist()
    pages = cache_slots(list(range(1 + blocks, 1 + 2 * blocks)), end, SIZE)
    parts = [
        Piece(start, stop, None, 7, pages=pages[start:stop], position=start + 5) for start, stop in pairwise(borders)
    ]
    return Load(
        "r", np.arange(tokens, dtype=np.int32), [list(range(1, 1 + blocks))], 0, end, parts,
        list(range(end, tokens)), int(ratio * (end - 100)), method, is_asynchronous=False,
    )  # fmt: skip


def load(worker: WorkerDouble, device: torch.device, *loads: Load) -> list[OpenLoad]:
    """What a step does with loads."""
    opened = [OpenLoad.of(one, SIZE, device) for one in loads]
    for one in opened:
        assert not one.fill(worker.stored)
    choose_rows(worker.pages, opened)
    compute_rows(worker.pages, [(one, one.rows) for one in opened if len(one.rows)])
    return opened


def with_kernel(worker: WorkerDouble) -> WorkerDouble:
    """Has pages filled by the double of a kernel, since addresses are only on a GPU."""
    kernel = object.__new__(FillKernel)
    kernel._layout, kernel._span, kernel._device, kernel._host = worker.pages._layout, SIZE, worker._device, None
    kernel._pages, kernel._turns, kernel._is_interleaved = None, None, False
    worker.stored.kernel = kernel
    return worker


@pytest.mark.parametrize("method", ["attention-spread", "prophetkv", "fusionrag", "epic"])
@pytest.mark.parametrize("ratio", [0, 0.15, 1])
@pytest.mark.parametrize("by_kernel", [True, False], ids=["kernel", "torch"])
def test_filling_choosing_and_computing_never_look_at_the_device(gpu_double, method, ratio, by_kernel):
    worker = WorkerDouble(2, 600, gpu_double)
    (opened,) = load(with_kernel(worker) if by_kernel else worker, gpu_double, load_of(16, ratio, method))
    assert len(opened.rows) == 100 + opened.load.budget
    # nothing is chosen of none or all
    is_asked = ratio == 0.15 and method != "epic"
    assert worker.passes == ["question"] * is_asked + ["rows"]


@pytest.mark.parametrize("layers", [2, 32])
def test_a_load_by_graphs_launches_no_more_for_more_layers_and_never_looks_at_the_device(
    gpu_double, gpu_kernel_doubles, layers
):
    def graph_double(run: Callable[[], None]) -> Callable[[], None]:
        run()
        return lambda: gpu_kernel_doubles.append("graph")

    worker = with_kernel(WorkerDouble(layers, 600, gpu_double))
    worker.pages.captured = CapturedPasses(worker.pages, gpu_double, 4096, graph_double)
    launched = []
    for given in (load_of(1, 0.15), load_of(16, 0.15), load_of(16, 0)):
        gpu_kernel_doubles.clear()
        with Counting() as counting:
            load(worker, gpu_double, given)
        assert gpu_kernel_doubles == ["kv_fill", *["graph"] * (2 if given.budget else 1)]
        launched.append(counting.count)
    assert max(launched) == launched[0] == launched[1] <= 100


def test_rows_of_host_memory_come_in_one_launch_and_nobody_looks_at_the_device(
    gpu_double, gpu_kernel_doubles, monkeypatch
):
    given = load_of(16, 0)
    here = [replace(piece, pages=None, slots=np.arange(piece.start, piece.end)) for piece in given.pieces[::2]]
    given = replace(given, pieces=sorted([*here, *given.pieces[1::2]], key=lambda piece: piece.start))
    worker = with_kernel(WorkerDouble(2, 600, gpu_double))
    # what of a segment is no row, the processor keeps
    kept = SimpleNamespace(
        holds=lambda *_: True, spread=np.zeros_like, read_by_kernels=lambda _: nullcontext(),
        positions=SimpleNamespace(numpy=lambda: np.zeros(4096, np.int32)),
    )  # fmt: skip
    worker.stored._store = worker.stored.kernel._store = kept
    monkeypatch.setattr(worker.stored.kernel, "_host", "rows of host memory")
    launched_before = []

    def beside() -> nullcontext:
        launched_before.append(list(gpu_kernel_doubles))
        return nullcontext()

    opened = OpenLoad.of(given, SIZE, gpu_double)
    assert not opened.fill(worker.stored, beside)
    # what is in pages is read first: the load may take them over
    assert launched_before == [["kv_fill"]] and gpu_kernel_doubles == ["kv_fill"] * 2


def test_whoever_looks_at_the_device_is_found_out(gpu_double):
    with pytest.raises(Exception, match=r"_local_scalar_dense|data-dependent|DataDependent"):
        bool(torch.ones(3, device=gpu_double).any())


def count(gpu: torch.device, launched: list[str], layers: int, *loads: Load) -> int:
    worker = with_kernel(WorkerDouble(layers, 5000, gpu))
    launched.clear()
    with Counting() as counting:
        load(worker, gpu, *loads)
    return counting.count + len(launched)


def test_of_loads_of_one_step_all_questions_and_all_rows_take_one_pass_each(gpu_double):
    worker = with_kernel(WorkerDouble(2, 600, gpu_double))
    load(worker, gpu_double, *(load_of(8, 0.15, tokens=1024 + 64 * number) for number in range(4)))
    assert worker.passes == ["question", "rows"]


def test_launches_do_not_depend_on_the_number_of_pieces(gpu_double, gpu_kernel_doubles):
    counts = {pieces: count(gpu_double, gpu_kernel_doubles, 2, load_of(pieces, 0.15)) for pieces in (1, 16, 64)}
    assert len(set(counts.values())) == 1
    # one launch fills all layers
    assert gpu_kernel_doubles.count("kv_fill") == 1


def test_nothing_is_filled_in_one_launch_where_a_load_takes_over_pages_that_it_reads(gpu_double, gpu_kernel_doubles):
    given = load_of(4, 0)
    given.blocks[0][200] = int(given.pieces[0].pages[0]) // SIZE
    count(gpu_double, gpu_kernel_doubles, 2, given)
    assert "kv_fill" not in gpu_kernel_doubles


def test_filling_reads_and_writes_each_row_once(gpu_double, monkeypatch):
    touched = []

    def bytes_of(source: Any, source_slots: torch.Tensor, target: Any, *more: Any, **named: Any) -> None:
        touched.append(2 * len(source_slots) * 2 * 32 * HEADS * DIM * 2)

    monkeypatch.setattr("reprise_kernels.kv_fill.kv_fill", bytes_of)

    class Bytes(TorchDispatchMode):
        """Adds up the bytes of what operations read and write, besides the kernel."""

        def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            made = function(*given, **(named or {}))
            if not function.is_view:
                touched.extend(one.nbytes for one in (*given, made) if isinstance(one, torch.Tensor) and one.dim())
            return made

    given = load_of(16, 0)
    worker = with_kernel(WorkerDouble(32, 600, gpu_double))
    with Bytes():
        worker.stored.fill(given)
    rows = sum(piece.end - piece.start for piece in given.pieces)
    keys_and_values = 32 * 2 * rows * HEADS * DIM * 2
    assert 2 * keys_and_values <= sum(touched) < 2.02 * keys_and_values


def averaged(pieces: int, repeated: bool = False) -> tuple[int, HostStore]:
    """Returns how many operations average a prompt's pieces into what host memory holds of them, and host memory."""
    layer = SimpleNamespace(num_kv_heads=HEADS, head_size=DIM, impl=SimpleNamespace(do_kv_cache_update=write))
    caches = [torch.randn(12, HEADS, SIZE, 2 * DIM, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2)]
    rotation = KeyRotation(torch.ones(500, DIM), is_neox=True)
    store = HostStore(160, RowShape(2, HEADS, DIM, torch.float32), rotation)
    stored = StoredRows([layer] * 2, caches, PageLayout(layer, caches[0], 12, SIZE), 12, rotation, store)
    tokens, blocks = np.zeros(160, np.int32), [list(range(1, 11))]
    borders = np.linspace(0, 160, pieces + 1).astype(int).tolist()
    parts = [(start, stop, np.arange(start, stop)) for start, stop in pairwise(borders)]
    if repeated:
        parts = [(start, stop, np.arange(stop - start)) for start, stop, _ in parts]
    stored.save(Save(tokens, blocks, [Piece(*part, 7) for part in parts]))
    with Counting() as counting:
        stored.save(Save(tokens, blocks, [Piece(*part, 7, is_average=True) for part in parts]))
    return counting.count, store


def test_what_averages_a_prompt_does_not_depend_on_the_number_of_pieces():
    counts, stores = zip(*(averaged(pieces) for pieces in (1, 4, 10)), strict=True)
    assert len(set(counts)) == 1
    for other in stores[1:]:
        assert all(
            torch.equal(a, b)
            for a, b in zip(stores[0].get(1, torch.arange(160)), other.get(1, torch.arange(160)), strict=True)
        )


def test_a_segment_that_a_prompt_repeats_has_a_context_more_for_each_repetition():
    _, store = averaged(4, repeated=True)
    assert store._contexts[:40].tolist() == [5] * 40 and store._contexts[40:].tolist() == [0] * 120


def launches_of_a_load(folder: Any, layers: int, monkeypatch: pytest.MonkeyPatch, launched: list[str]) -> int:
    """Returns what vLLM's own model and a load launch before a step's forward, with doubles of our kernels."""
    model = make_model(folder / str(layers), layers)
    engine = ReusingEngine(model, {"host_bytes": 8 << 20, "rows_per_step": 4096}, max_num_batched_tokens=2048)
    try:
        worker = engine.worker
        engine.ask([FIRST])
        worker.pages.reads_in_place = True
        # a CPU's pages are packed, so kernels could not read them
        rows = torch.zeros(1, 4, 2, 32)
        worker.pages.__dict__["_every_in_place"] = [InPlace(rows, rows, BLOCK)] * layers
        kernel = worker.stored.kernel = object.__new__(FillKernel)
        kernel._layout, kernel._span, kernel._device, kernel._host = worker.pages._layout, BLOCK, worker.device, None
        kernel._pages, kernel._turns, kernel._is_interleaved = None, None, False
        begin, counts = worker.begin_step, []

        counting = Counting()

        def counted(step: Any) -> None:
            launched.clear()
            with counting:
                begin(step)
            counts.append(counting.count + len(launched))

        def one_launch(self: Any, *given: Any, **named: Any) -> Any:
            # vLLM's build for GPUs has one operation for a norm, a rotation, or an activation
            counting.count, counting.is_paused = counting.count + 1, True
            try:
                return self._forward_method(*given, **named)
            finally:
                counting.is_paused = False

        monkeypatch.setattr(worker, "begin_step", counted)
        monkeypatch.setattr(CustomOp, "forward", one_launch)
        engine.ask([OTHER], {"reuse": 0.15}, tokens=1)
        assert worker.report.is_empty and engine.counts()["tokens", "recomputed"] > 20
        return max(counts)
    finally:
        engine.core.shutdown()


def test_a_load_of_a_model_of_32_layers_launches_no_more_than_its_budget(tmp_path, monkeypatch, gpu_kernel_doubles):
    few, more = (launches_of_a_load(tmp_path, layers, monkeypatch, gpu_kernel_doubles) for layers in (2, 4))
    of_layer = (more - few) / 2
    assert (few + 30 * of_layer, of_layer) <= (700, 20)
