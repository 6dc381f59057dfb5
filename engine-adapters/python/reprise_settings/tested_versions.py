"""Says with which versions of an engine a plugin was tested."""

import logging
from collections.abc import Sequence


def say_tested(engine: str, running: str, tested: Sequence[str], logger: logging.Logger) -> None:
    """Logs one line. It is a warning if the running version is another; its build (`+cpu`) does not matter."""
    level = logging.INFO if running.split("+")[0] in tested else logging.WARNING
    logger.log(level, "reprise: tested with %s %s; this is %s", engine, " and ".join(tested), running)
