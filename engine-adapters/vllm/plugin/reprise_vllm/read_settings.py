"""Reads one group of what the operator says in `kv_connector_extra_config`."""

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, TypeVar

Settings = TypeVar("Settings")


def read_settings(kind: type[Settings], key: str, example: str, given: Any, error: type[ValueError]) -> Settings | None:
    """
    Returns the settings under `key`, with defaults for what is not given; None where there are none.

    Raises `error` where they are no object, or one of them is unknown. Their values are for the caller to check.
    """
    if given is None or given is False:
        return None
    given = {} if given is True else given
    if not isinstance(given, Mapping):
        raise error(f"{key} is {given!r}, it must be an object such as {example}")
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in given:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"
            raise error(f"{key}.{name} is no setting{hint}")
    return kind(**given)


def check_number(key: str, name: str, value: Any, least: float, most: float, error: type[ValueError]) -> None:
    """Raises `error` unless a setting is a number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise error(f"{key}.{name} is {value!r}, it must be a number from {least} to {most}")


def check_whole(key: str, name: str, value: Any, least: int, error: type[ValueError]) -> None:
    """Raises `error` unless a setting is a whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise error(f"{key}.{name} is {value!r}, it must be a whole number from {least} on")
