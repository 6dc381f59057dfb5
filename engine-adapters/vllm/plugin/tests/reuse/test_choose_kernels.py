"""Kernels are used only where they are faster, and compute what torch computes."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from reprise_reuse.host_store import HostStore, RowShape
from reprise_reuse.pieces import Load
from reprise_reuse.rotation import KeyRotation
from reprise_reuse.rows.evidence import PromptPages, attend_over
from reprise_reuse.rows.fill_kernel import FillKernel
from reprise_reuse.rows.row_choice import OpenLoad
from reprise_reuse.rows.row_pass import compute_rows
from reprise_reuse.rows.stored_rows import StoredRows
from reprise_vllm.engine.page_layout import PageLayout
from reprise_vllm.reuse.worker.choose_kernels import KERNELS, fastest, ways_to_ask, ways_to_fill

# not vLLM's own, whose level an engine of another test may have set
LOGGER = logging.getLogger("choose")
BLOCKS, SIZE, HEADS, GROUP, DIM = 7, 16, 2, 3, 32
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def fault() -> torch.Tensor:
    raise RuntimeError("no kernel image")


WAYS = {
    "faster": lambda: torch.tensor([1.0, 2.01]),
    "slower": lambda: torch.tensor([1.0, 2.0]),
    "wrong": lambda: torch.tensor([1.0, 2.1]),
    "no number": lambda: torch.tensor([1.0, torch.nan]),
    "fault": fault,
}
MILLISECONDS = {"torch": 2.0, "faster": 1.0, "slower": 3.0, "wrong": 0.1, "no number": 0.1, "fault": 0.1}


@pytest.mark.parametrize(
    ("others", "chosen", "said"),
    [
        (["faster"], "faster", "question is left to faster: torch 2.000 ms, faster 1.000 ms"),
        (["slower"], "torch", "question is left to torch: torch 2.000 ms, slower 3.000 ms"),
        (["wrong", "faster"], "faster", "is not left to wrong, which is off by 5.0e-02"),
        (["no number"], "torch", "is not left to no number, which is off by nan"),
        (["fault"], "torch", "is not left to fault: no kernel image"),
    ],
)
def test_the_fastest_way_is_chosen_of_those_that_compute_the_same(others, chosen, said, caplog):
    ways = {"torch": lambda: torch.tensor([1.0, 2.0]), **{name: WAYS[name] for name in others}}
    names = {way: name for name, way in ways.items()}
    with caplog.at_level(logging.INFO, "choose"):
        assert fastest("the question", ways, lambda way: MILLISECONDS[names[way]], LOGGER) == chosen
    assert said in caplog.text


def test_the_kernels_compute_what_torch_computes():
    """In a process of its own, since Triton decides when it is imported whether its interpreter runs kernels."""
    interpreted = {"TRITON_INTERPRET": "1"} if DEVICE == "cpu" else {}
    env = {**os.environ, **interpreted, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, __file__], env=env, check=True)


def worker_double() -> SimpleNamespace:
    """A worker without a model: its pages are laid out as FlashAttention's."""

    def update(_layer: object, keys: torch.Tensor, values: torch.Tensor, cache: torch.Tensor, at: torch.Tensor) -> None:
        cache.transpose(1, 2)[at // SIZE, at % SIZE] = torch.cat((keys, values), -1)

    impl = SimpleNamespace(do_kv_cache_update=update)
    layer = SimpleNamespace(num_kv_heads=HEADS, num_heads=HEADS * GROUP, head_size=DIM, impl=impl)
    caches = [torch.zeros(BLOCKS, HEADS, SIZE, 2 * DIM, device=DEVICE)]
    layout = PageLayout(layer, caches[0], BLOCKS, SIZE)
    turns = 10000 ** (-torch.arange(DIM // 2, device=DEVICE) / (DIM // 2))
    angles = torch.arange(5000, device=DEVICE)[:, None] * turns
    rotation = KeyRotation(torch.cat((angles.cos(), angles.sin()), -1), is_neox=True)
    store = HostStore(0, RowShape(1, HEADS, DIM, torch.float32), rotation)
    return SimpleNamespace(
        layer=layer, device=torch.device(DEVICE), store=store,
        pages=PromptPages(None, layout, caches, DIM**-0.5, len(angles), 1),
        stored=StoredRows([layer], caches, layout, BLOCKS, rotation, store),
        fill_kernel=lambda: FillKernel(layout, caches, store, rotation),
    )  # fmt: skip


def compare_under_the_interpreter() -> None:
    worker = worker_double()
    for ways in (ways_to_ask(worker, BLOCKS, SIZE), ways_to_fill(worker, BLOCKS, SIZE)[1]):
        expected, *_ = (way() for way in ways.values())
        assert float(expected.abs().max()) > 0.1
        torch.testing.assert_close(ways[KERNELS](), expected, atol=1e-4, rtol=1e-4)


def compute_rows_under_the_interpreter() -> None:
    """Rows of two loads, some at a time, each see their own pages up to their own positions."""
    worker, random = worker_double(), torch.Generator(DEVICE).manual_seed(3)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, device=DEVICE)

    worker.stored.fill_pages(
        0, torch.arange(1, 5, device=DEVICE), draw(4 * SIZE, HEADS, DIM), draw(4 * SIZE, HEADS, DIM)
    )
    ends, chosen = (30, 25), ([3, 17, 29], [0, 24])
    parts = []
    for blocks, end, rows in zip(([4, 2], [1, 3]), ends, chosen, strict=True):
        load = Load("r", np.zeros(end, np.int32), [blocks], 0, end, [], [], 0, "", is_asynchronous=False)
        opened = OpenLoad.of(load, SIZE, torch.device(DEVICE))
        parts.append((opened, torch.tensor(rows, device=DEVICE)))
    seen = []

    def write(tokens: torch.Tensor, positions: torch.Tensor, slots: torch.Tensor, attend: Callable) -> None:
        q = draw(len(tokens), HEADS * GROUP, DIM)
        attend(0, q.flatten(1), q, q, output := torch.empty_like(q))
        seen.extend(zip(q, positions.tolist(), slots.tolist(), output, strict=True))

    worker.pages.forward, worker.pages.reads_in_place = SimpleNamespace(write=write, most_rows=2), True
    compute_rows(worker.pages, parts)
    expected = [(one, row) for one, rows in parts for row in rows.tolist()]
    for (q, position, slot, output), (one, row) in zip(seen, expected, strict=True):
        assert (position, slot) == (row, one.slots[row])
        keys, values = worker.pages.rows_of(0, one.blocks, 0, row + 1)
        sees = torch.ones(1, 1, dtype=torch.bool, device=DEVICE)
        given = keys.permute(1, 2, 0), values.transpose(0, 1)
        right = attend_over(q[None], *given, scale=worker.pages.scale, sees=sees)[1]
        torch.testing.assert_close(output, right[0], atol=1e-4, rtol=1e-4)


if __name__ == "__main__":
    compute_rows_under_the_interpreter()
    compare_under_the_interpreter()
