"""Kernels are launched on the GPU of their tensors, whichever GPU is current."""

import ast
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from cases import indices

import lab_kernels
import reprise_kernels
from lab_kernels.select_tokens import select_tokens
from reprise_kernels.launch.launch_configs import on_device

PACKAGES = [Path(package.__file__).parent for package in (reprise_kernels, lab_kernels)]
SOURCES = [source for package in PACKAGES for source in sorted(package.rglob("dispatch.py"))]


def test_the_gpu_of_the_tensor_is_the_current_one_within_and_a_cpu_has_none():
    entered = on_device(SimpleNamespace(device=torch.device("cuda", 1)))
    assert isinstance(entered, torch.cuda.device)
    assert entered.idx == 1
    assert isinstance(on_device(torch.zeros(1)), nullcontext)


def is_launch(node: ast.AST) -> bool:
    """Whether this is `some_kernel[grid](...)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)


def is_on_device(node: ast.AST) -> bool:
    """Whether this is `with on_device(...):`."""
    return isinstance(node, ast.With) and "on_device" in ast.unparse(node.items[0])


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source.parent.name}/{source.stem}")
def test_every_launch_names_its_device(source):
    tree = ast.parse(source.read_text())
    launched = [node for node in ast.walk(tree) if is_launch(node)]
    guarded = [node for guard in ast.walk(tree) if is_on_device(guard) for node in ast.walk(guard) if is_launch(node)]
    assert len(launched) == len(guarded)
    assert launched or source.parent.name == "weighted_deviation"


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is but one GPU")
def test_what_lies_on_another_gpu_than_the_current_one_is_computed_there():
    scores, lengths = torch.arange(90.0).view(1, 90).to("cuda:1"), indices([90]).to("cuda:1")
    with torch.cuda.device(0):
        positions, counts = select_tokens(scores, lengths, 0.1)
    assert positions[0, :9].tolist() == list(range(81, 90))
    assert counts.tolist() == [9]
