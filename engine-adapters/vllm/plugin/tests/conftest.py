import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parent.parent.parent / "python"
KERNELS = TESTS.parent.parent.parent.parent / "kernels"
MODELS = TESTS.parent.parent / "test-model"
sys.path[:0] = [str(one) for one in (TESTS, TESTS.parent, SHARED, SHARED / "tests", KERNELS, MODELS)]

pytest.importorskip("vllm", reason="the plugin is tested in an environment that has vLLM")

# on a busy machine making up inputs may take long, too
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# these modules are on the path that was just set
from engine import Engine  # noqa: E402
from engine_config import make_config  # noqa: E402
from receiver import Receiver  # noqa: E402
from vllm.v1.core.sched.async_scheduler import AsyncScheduler  # noqa: E402
from vllm.v1.core.sched.scheduler import Scheduler  # noqa: E402


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver that the engine's plugin is configured to report to."""
    receiver = Receiver()
    monkeypatch.setenv("REPRISE_CALLBACK_URL", receiver.url)
    yield receiver
    receiver.stop()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for model descriptions."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(params=[Scheduler, AsyncScheduler], ids=["scheduler", "async scheduler"])
def engine(request: pytest.FixtureRequest, receiver: Receiver, folder: Path) -> Iterator[Engine]:
    """An engine with room for 20 blocks that has started to report."""
    engine = Engine(make_config(folder), blocks=21, scheduler=request.param)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    yield engine
    engine.close()
