"""vLLM's loggers do not propagate to where pytest listens."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from vllm.config.logging import LoggingConfig
from vllm.logger import configure_logging


@contextmanager
def listening(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What the plugin says meanwhile is in `caplog`."""
    # the first configuration that an engine makes takes all handlers away
    configure_logging(LoggingConfig())
    logger = logging.getLogger("vllm.reprise")
    logger.addHandler(caplog.handler)
    try:
        yield
    finally:
        logger.removeHandler(caplog.handler)
