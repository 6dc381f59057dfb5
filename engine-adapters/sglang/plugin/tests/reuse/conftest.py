import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from reusing_scheduler import ReusingScheduler

from reprise_reuse.disk.messages import ReuseReport

MODEL = Path(sys.prefix).parent / "test-model"


@pytest.fixture(scope="session")
def engine(published_configuration: None) -> ReusingScheduler:
    """A scheduler that prefills 512 tokens at a time, and whose cache and store hold a few prompts."""
    settings = '{"ratio": 0.15, "when": "always", "host_bytes": 3200000}'
    given = {"page_size": 16, "max_total_tokens": 4096, "max_running_requests": 8, "chunked_prefill_size": 512}
    return ReusingScheduler(MODEL, settings, **given)


@pytest.fixture
def fresh(engine: ReusingScheduler, caplog: pytest.LogCaptureFixture) -> Iterator[ReusingScheduler]:
    """The same, with nothing cached or stored, and with its limits and settings restored afterwards."""
    caplog.set_level(logging.INFO, "reprise_sglang")
    engine.flush()
    reuser: Any = engine.reuser
    assert reuser.refusal is None
    reuser.counts.clear()
    settings, stored = reuser._settings, reuser._worker.stored
    yield engine
    reuser._settings, reuser._worker.stored, reuser.refusal = settings, stored, None
    reuser._worker.report, reuser._worker._faults._score = ReuseReport(), 0
    engine.run()
    assert engine.is_balanced()
