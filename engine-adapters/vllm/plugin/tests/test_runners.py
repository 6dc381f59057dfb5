"""The plugin loads in a vLLM that has only one of the two model runners, and without what only reuse needs."""

import gc
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from reprise_settings import NotSupportedError
from reprise_vllm.engine import model_parts

_LOAD_CONNECTOR = 'import reprise_vllm.connector; print("loaded")'
_LOAD_PAGES = """
import reprise_vllm.connector
from reprise_vllm.engine.model_parts import remember_runner
from reprise_vllm.select_pages.processor import PageProcessor
remember_runner()
print("kinds of processors:", len(PageProcessor.__bases__))
"""
_RUN_WITHOUT = """
import json, os, sys
import vllm.distributed.kv_transfer.kv_connector.v1.base

class Gone:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, *more):
        if name in self.names:
            raise ImportError(name + " is gone")

cases = json.loads(sys.argv[1])
assert not any(name in sys.modules for names, _ in cases for name in names)
for names, code in cases:
    # a copy of this process, so that what all of them need is imported once
    if os.fork() > 0:
        _, status = os.wait()
        assert status == 0, names
        continue
    sys.meta_path.insert(0, Gone(names))
    exec(code)
    sys.stdout.flush()
    os._exit(0)
"""
PLUGIN = Path(__file__).resolve().parent.parent
PATH = [str(one) for one in (PLUGIN, PLUGIN.parent.parent / "python", PLUGIN.parent.parent.parent / "kernels")]
V1 = ["vllm.v1.worker.gpu_model_runner", "vllm.v1.sample.logits_processor.interface"]
V2 = ["vllm.v1.worker.gpu.model_runner", "vllm.v1.worker.gpu.sample.logits_processor.interface"]
KERNELS = ["reprise_reuse", "reprise_kernels"]


def test_neither_a_runner_nor_the_kernels_are_missed():
    cases = [(V1, _LOAD_PAGES), (V2, _LOAD_PAGES), (KERNELS, _LOAD_CONNECTOR)]
    ended = subprocess.run(
        [sys.executable, "-c", _RUN_WITHOUT, json.dumps(cases)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*PATH, *sys.path])},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert [line for line in ended.stdout.splitlines() if line.startswith(("kinds", "loaded"))] == [
        "kinds of processors: 1", "kinds of processors: 1", "loaded",
    ]  # fmt: skip


class RunnerDouble:
    """What is like a runner for those who remember it: it makes its caches, and has a model."""

    def initialize_kv_cache(self) -> None:
        pass


def test_a_runner_that_has_ended_takes_its_model_along(monkeypatch):
    monkeypatch.setattr(model_parts, "_runner", model_parts._runner)
    runner = RunnerDouble()
    model_parts._remembering(RunnerDouble.initialize_kv_cache)(runner)
    ended = weakref.ref(runner)
    del runner
    gc.collect()
    assert ended() is None
    with pytest.raises(NotSupportedError, match="the model was not found"):
        model_parts.model_parts(None, [])
