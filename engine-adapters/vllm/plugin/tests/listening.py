"""vLLM's loggers do not propagate to where pytest listens."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def listening(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What the plugin says meanwhile is in `caplog`."""
    logger = logging.getLogger("vllm.reprise")
    logger.addHandler(caplog.handler)
    try:
        yield
    finally:
        logger.removeHandler(caplog.handler)
