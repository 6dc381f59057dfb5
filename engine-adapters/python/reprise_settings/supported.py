"""Says what a plugin cannot do in an engine."""

from collections.abc import Mapping


class NotSupportedError(Exception):
    """What the operator asks for is not possible in this engine, which runs as without it; the message says why."""


def refuse(reasons: Mapping[str, object]) -> None:
    """Raises `NotSupportedError` for the first of these (what is not supported, and whether it is there) that holds."""
    for what, holds in reasons.items():
        if holds:
            raise NotSupportedError(f"{what} is not supported")
