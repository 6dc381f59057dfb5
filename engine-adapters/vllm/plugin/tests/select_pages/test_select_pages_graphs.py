"""Page selection within full CUDA graphs: addresses that stay, layers captured once, and no look at the device."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from graph_double import LAYERS, STEPS, Decoding, start
from launch_counting import Counting
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily

from reprise_vllm.engine.page_layout import PageLayout


def test_a_captured_layer_part_gives_in_every_later_step_what_eager_layers_give(monkeypatch):
    eager = start(Decoding(monkeypatch, in_graphs=False))
    expected = []
    for holders in STEPS:
        eager.step(holders)
        expected.append(eager.output.clone())
    counted = eager.rows.counts
    graphs = Decoding(monkeypatch, in_graphs=True)
    captured, tape = graphs.capture(8)
    start(graphs)
    assert tape.launched == ["choose", "attend"] * LAYERS
    for holders, wanted in zip(STEPS, expected, strict=True):
        metadata = graphs.step(holders, lambda _: tape.replay(), bucket=8)
        assert metadata.block_table.data_ptr() == captured.block_table.data_ptr()
        assert metadata.seq_lens.data_ptr() == captured.seq_lens.data_ptr()
        assert metadata.block_table.stride() == captured.block_table.stride()
        torch.testing.assert_close(graphs.output, wanted, rtol=1e-5, atol=1e-6)
    assert graphs.rows.counts == counted
    assert 50 < counted["pages_read", "listed"] < counted["pages_read", "all"]
    assert counted["pages_choices", "made"] > 20


def test_the_kernels_themselves_run_alike_in_every_later_step():
    """In a process of its own: Triton's interpreter is chosen at import."""
    script = Path(__file__).parent / "interpreted_layers.py"
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("in_graphs", [False, True])
def test_steps_run_eagerly_between_graphs_give_the_same(monkeypatch, in_graphs):
    """A batch with prefills runs its layers by Python, next to captured ones."""
    eager, other = (Decoding(monkeypatch, in_graphs=one) for one in (False, in_graphs))
    tape = other.capture(8)[1] if in_graphs else None
    start(eager), start(other)
    for number, holders in enumerate(STEPS):
        eager.step(holders)
        replayed = tape is not None and number % 3
        other.step(holders, (lambda _: tape.replay()) if replayed else None, bucket=8 if replayed else None)
        torch.testing.assert_close(other.output, eager.output, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("when", ["captured", "sparse"])
def test_a_fault_ends_selection_and_graphs_read_whole_contexts(monkeypatch, when):
    def choose_fault(*given: Any, **named: Any) -> None:
        raise RuntimeError("as if a kernel did not compile")

    told: list[str] = []
    dense = start(Decoding(monkeypatch, in_graphs=False))
    graphs = Decoding(monkeypatch, in_graphs=True)
    graphs.selection._logger = graphs.selection.chooser._logger = SimpleNamespace(
        error=lambda message, *given, **named: told.append(given[0]), warning=lambda *given: None
    )
    if when == "captured":
        monkeypatch.setattr("reprise_kernels.choose_pages.choose_pages", choose_fault)
    _, tape = graphs.capture(8)
    start(graphs)
    for number, holders in enumerate(STEPS[:14]):
        if when == "sparse" and number == 7:
            monkeypatch.setattr(graphs.selection.tables, "shorten", choose_fault)
        dense.selection.refusal = "dense"
        dense.step(holders)
        graphs.step(holders, lambda _: tape.replay(), bucket=8)
        if when == "captured" or number >= 7:
            torch.testing.assert_close(graphs.output, dense.output, rtol=1e-5, atol=1e-6)
    assert graphs.selection.refusal == "fault" and told == ["fault"]


def test_metadata_outside_of_a_step_leave_its_tables_alone(monkeypatch):
    graphs = start(Decoding(monkeypatch, in_graphs=True))
    metadata = graphs.step([2, 3])
    before = metadata.block_table.clone(), metadata.seq_lens.clone()
    nested = graphs.common([0, 1], 2).replace(is_prefilling=None)
    other = graphs.builder.build(0, nested)
    assert other.block_table is nested.block_table_tensor
    assert torch.equal(metadata.block_table, before[0]) and torch.equal(metadata.seq_lens, before[1])


@pytest.fixture
def gpu_double(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A GPU on which nothing has values: whoever looks at one fails. The host's own tensors have theirs."""
    numpy = torch.Tensor.numpy

    def of_host(tensor: torch.Tensor) -> Any:
        with unset_fake_temporarily():
            return numpy(tensor)

    monkeypatch.setattr(torch.Tensor, "numpy", of_host)
    with FakeTensorMode(allow_non_fake_inputs=True):
        yield "cuda"


def on_gpu(monkeypatch: Any, gpu: str, layers: int) -> tuple[Decoding, list[str]]:
    decoding = Decoding(monkeypatch, layers, in_graphs=True, device=gpu)
    launched: list[str] = []
    monkeypatch.setattr(
        "reprise_kernels.choose_pages.choose_pages", lambda *given, **named: launched.append("choose_pages")
    )
    with unset_fake_temporarily():
        layer = decoding.layers[0]
        cache = torch.zeros(layer.kv_cache.shape)
        layout = PageLayout(layer, cache, len(cache), decoding.selection.shape.page)
    decoding.selection.chooser._layout = layout
    decoding.selection.is_proven = True
    monkeypatch.setattr(decoding, "forward", lambda metadata: None)
    return decoding, launched


@pytest.mark.parametrize("layers", [2, 32])
def test_a_graphs_step_never_looks_at_the_device_and_its_build_takes_no_more_launches_for_more_layers(
    monkeypatch, gpu_double, layers
):
    decoding, launched = on_gpu(monkeypatch, gpu_double, layers)
    settings = decoding.selection.settings
    decoding.selection.settings = type(settings)(least_tokens=64, requests=4, least_saving=0)
    metadata = decoding.builder.build_for_cudagraph_capture(decoding.common(list(range(8)), 8))
    launched.clear()
    for index, layer in enumerate(decoding.layers):
        with Counting() as counting:
            decoding.selection.in_layer(metadata.reprise_step, index, decoding.query[index])
        assert (counting.count, layer.impl.reprise_pages[1]) == (0, index)
    assert launched == ["choose_pages"] * layers
    for holder, (length, ratio) in enumerate([(100, None), (70, None), (300, 0.2), (410, 0.5), (330, 0.3)]):
        decoding.lengths[holder] = length
        decoding.rows.add(holder, ratio)
    taken = []
    for holders in ([0, 1], [2, 3], [2, 3], [4, 2, 0], [2, 3, 4]):
        # the second step summarises what is there
        filled = int(sum(decoding.rows.summed[:4]))
        common = decoding.common(holders, 8)
        with Counting() as counting:
            decoding.builder.build(0, common)
        if int(sum(decoding.rows.summed[:4])) == filled:
            taken.append(counting.count)
        decoding.lengths[holders] += 1
    assert decoding.selection.refusal is None and decoding.rows.counts["pages_choices", "made"] >= 3
    assert len(taken) == 3 and max(taken) <= 16


def test_whoever_looks_at_the_device_is_found_out(gpu_double):
    with pytest.raises(Exception, match=r"_local_scalar_dense|data-dependent|DataDependent"):
        bool(torch.ones(3, device=gpu_double).any())
