"""The plugin loads in a vLLM that has only one of the two model runners, and without what only reuse needs."""

import subprocess
import sys
from pathlib import Path

import pytest

_LOAD = """
import sys
sys.path[:0] = {path!r}
class Gone:
    def find_spec(self, name, *more):
        if name in {gone!r}:
            raise ImportError(name + " is gone")
sys.meta_path.insert(0, Gone())
import reprise_vllm.connector
from reprise_vllm.engine.model_parts import remember_runner
from reprise_vllm.select_pages.processor import PageProcessor
remember_runner()
print("loaded", len(PageProcessor.__bases__))
"""
PLUGIN = Path(__file__).resolve().parent.parent
PATH = [str(one) for one in (PLUGIN, PLUGIN.parent.parent / "python", PLUGIN.parent.parent.parent / "kernels")]
RUNNERS = {
    "V1": ["vllm.v1.worker.gpu_model_runner", "vllm.v1.sample.logits_processor.interface"],
    "V2": ["vllm.v1.worker.gpu.model_runner", "vllm.v1.worker.gpu.sample.logits_processor.interface"],
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_runner_that_a_vllm_no_longer_has_is_not_missed(runner):
    code = _LOAD.format(path=PATH, gone=RUNNERS[runner])
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "loaded 1" in ended.stdout, ended.stderr[-2000:]


def test_without_the_kernels_package_the_plugin_loads_and_reports():
    code = f"""
import sys
sys.path[:0] = {PATH[:2]!r}
sys.modules["reprise_reuse"] = sys.modules["reprise_kernels"] = None
import reprise_vllm.connector
print("loaded")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "loaded" in ended.stdout, ended.stderr[-2000:]
