"""One place in which an operator says settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeVar

Settings = TypeVar("Settings")


def hint_at(setting: object, known: Sequence[str]) -> str:
    """Returns what somebody may have meant by a setting that is not known."""
    near = get_close_matches(str(setting), known, 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"


@dataclass(frozen=True, slots=True)
class SettingPlace:
    """A key of a configuration, or a variable that holds JSON; `error` is raised for what cannot be used."""

    name: str
    error: type[ValueError]
    example: str
    """an object that may stand there"""
    joint: str = "."
    """between the place and one of its settings, as the operator knows it"""

    def read(self, kind: type[Settings], given: Any, said: str | None = None) -> Settings:
        """
        Returns the settings given, with defaults for the rest; their values are for the caller to check.

        Raises `error` if they are no object, or if one of them is unknown. `said`: `given` as the operator wrote it.
        """
        if not isinstance(given, Mapping):
            raise self.error(f"{self.name} is {said or repr(given)}, it must be an object such as {self.example}")
        known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        for setting in given:
            if setting not in known:
                raise self.error(f"{self.path_of(setting)} is no setting; {hint_at(setting, known)}")
        return kind(**given)

    def read_if_given(self, kind: type[Settings], given: Any) -> Settings | None:
        """The same; None for None and False, and all defaults for True."""
        if given is None or given is False:
            return None
        return self.read(kind, {} if given is True else given)

    def path_of(self, setting: str) -> str:
        """Returns what the operator calls a setting."""
        return f"{self.name}{self.joint}{setting}"

    def check_number(self, setting: str, value: Any, least: float, most: float) -> None:
        """Raises `error` unless a setting is a number from `least` to `most`."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.error(f"{self.path_of(setting)} is {value!r}, it must be a number from {least} to {most}")

    def check_whole(self, setting: str, value: Any, least: int) -> None:
        """Raises `error` unless a setting is a whole number from `least` on."""
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(f"{self.path_of(setting)} is {value!r}, it must be a whole number from {least} on")
