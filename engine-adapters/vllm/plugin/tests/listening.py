"""Captures the plugin's log lines: vLLM's loggers do not propagate to pytest's handler."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from vllm.config.logging import LoggingConfig
from vllm.logger import configure_logging


@contextmanager
def listening(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Captures in `caplog` what the plugin logs inside the block."""
    # the first configuration that an engine makes removes all handlers
    configure_logging(LoggingConfig())
    logger = logging.getLogger("vllm.reprise")
    logger.addHandler(caplog.handler)
    try:
        yield
    finally:
        logger.removeHandler(caplog.handler)
