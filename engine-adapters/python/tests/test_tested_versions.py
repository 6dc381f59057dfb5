"""What a plugin says about the version of the engine that it runs in."""

import logging

import pytest

from reprise_settings import say_tested


@pytest.mark.parametrize(
    ("running", "level"),
    [("0.33.0", "INFO"), ("0.32.0+cpu", "INFO"), ("0.34.0", "WARNING"), ("0.33.0rc1", "WARNING"), ("dev", "WARNING")],
)
def test_a_version_that_was_not_tested_is_a_warning(caplog: pytest.LogCaptureFixture, running: str, level: str) -> None:
    with caplog.at_level(logging.INFO):
        say_tested("vLLM", running, ("0.32.0", "0.33.0"), logging.getLogger("plugin"))
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        (level, f"reprise: tested with vLLM 0.32.0 and 0.33.0; this is {running}")
    ]
