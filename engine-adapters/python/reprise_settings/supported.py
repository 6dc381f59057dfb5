"""Says what a plugin cannot do in an engine, and with which versions of it it was tested."""

import logging
from collections.abc import Mapping, Sequence


class NotSupportedError(Exception):
    """What the operator asks for is not possible in this engine, which runs as without it; the message says why."""


def refuse(reasons: Mapping[str, object]) -> None:
    """Raises `NotSupportedError` for the first of these (what is not supported, and whether it is there) that holds."""
    for what, holds in reasons.items():
        if holds:
            raise NotSupportedError(f"{what} is not supported")


def say_tested(engine: str, running: str, tested: Sequence[str], logger: logging.Logger) -> None:
    """Logs one line. It is a warning if the running version is another; its build (`+cpu`) does not matter."""
    level = logging.INFO if running.split("+")[0] in tested else logging.WARNING
    logger.log(level, "reprise: tested with %s %s; this is %s", engine, " and ".join(tested), running)
