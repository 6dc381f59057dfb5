"""A place in which an operator gives settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeVar

Settings = TypeVar("Settings")


def hint_at(setting: object, known: Sequence[str]) -> str:
    """Returns a hint for an unknown setting: the closest known name, or all known names."""
    near = get_close_matches(str(setting), known, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


@dataclass(frozen=True, slots=True)
class SettingPlace:
    """A configuration key, or a variable that holds JSON. Raises `error` for values that cannot be used."""

    name: str
    error: type[ValueError]
    example: str
    """a valid object, quoted in messages"""
    joint: str = "."
    """separates the place from a setting's name, as the operator writes it"""

    def read(self, kind: type[Settings], given: Any, said: str | None = None) -> Settings:
        """
        Returns the given settings, with defaults for the rest. The caller must check their values.

        Raises `error` if `given` is not an object or has an unknown setting. `said`: `given` as the operator wrote it.
        """
        if not isinstance(given, Mapping):
            raise self.error(f"{self.name} is {said or repr(given)}, it must be an object such as {self.example}")
        known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        for setting in given:
            if setting not in known:
                raise self.error(f"{self.path_of(setting)} is no setting; {hint_at(setting, known)}")
        return kind(**given)

    def read_if_given(self, kind: type[Settings], given: Any) -> Settings | None:
        """Like `read`, but returns None for None and False, and all defaults for True."""
        if given is None or given is False:
            return None
        return self.read(kind, {} if given is True else given)

    def parse(self, text: str) -> Any:
        """Returns the value of a variable that holds JSON. Raises `error` if it holds none."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise self.error(f"{self.name} is no JSON: {error}") from error

    def path_of(self, setting: str) -> str:
        """Returns a setting's full name, as the operator writes it."""
        return f"{self.name}{self.joint}{setting}"

    def check_number(self, setting: str, value: Any, least: float, most: float) -> None:
        """Raises `error` unless a setting is a number from `least` to `most`."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.error(f"{self.path_of(setting)} is {value!r}, it must be a number from {least} to {most}")

    def check_choice(self, setting: str, value: Any, known: Sequence[str]) -> None:
        """Raises `error` unless a setting is one of these."""
        if value not in known:
            raise self.error(f"{self.path_of(setting)} is {value!r}, it must be one of {', '.join(known)}")

    def check_whole(self, setting: str, value: Any, least: int) -> None:
        """Raises `error` unless a setting is a whole number of at least `least`."""
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(f"{self.path_of(setting)} is {value!r}, it must be a whole number from {least} on")
