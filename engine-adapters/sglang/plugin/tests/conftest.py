import os
import sys
from pathlib import Path

import pytest

# before torch is imported, here and in processes of tests: for small tensors, threads wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
_TESTS = Path(__file__).parent
# the packages of this checkout, even if others are installed
sys.path[:0] = [
    str(_TESTS),
    str(_TESTS / "server"),
    str(_TESTS.parent),
    str(_TESTS.parents[2] / "python"),
    str(_TESTS.parents[2] / "python" / "tests"),
    str(_TESTS.parents[2] / "vllm" / "test-model"),
    str(_TESTS.parents[3] / "kernels"),
]

pytest.importorskip("sglang", reason="needs SGLang: run it in the environment that tests/engine/setup.sh makes")

from sglang.srt import runtime_context
from sglang.srt.server_args import ServerArgs


@pytest.fixture(scope="session", autouse=True)
def published_configuration() -> None:
    """Publishes the server configuration that SGLang's parts read: one rank, on a CPU."""
    arguments = ServerArgs(model_path="none", device="cpu", radix_cache_backend="reprise")
    # else it is read from the model
    arguments._mamba_cache_chunk_size = 64
    runtime_context.publish(arguments, role="scheduler", ranks=runtime_context.SpawnRanks(world_rank=0))


@pytest.fixture(params=["rust", "python"])
def core(request: pytest.FixtureRequest) -> str:
    """Each of SGLang's tree cores."""
    return request.param
