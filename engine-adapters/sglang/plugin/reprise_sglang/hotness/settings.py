"""What the operator says of eviction and admission."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

_POLICIES = ("stock", "hotprefix")
DEFAULT_ADMISSION = 10


class HotnessSettingError(ValueError):
    """A setting that cannot be used; says which, and what it may be."""


@dataclass(frozen=True, slots=True)
class HotnessSettings:
    """How prefixes are chosen that leave the GPU."""

    admission_frequency: int = DEFAULT_ADMISSION
    """what is evicted goes to the host from so many requests on (HotPrefix §3.3.2); 0: all of it does"""

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "HotnessSettings | None":
        """Returns None where SGLang's own policy stays; raises `HotnessSettingError`."""
        policy = environment.get("REPRISE_EVICTION", "").strip() or "stock"
        if policy not in _POLICIES:
            raise HotnessSettingError(f"REPRISE_EVICTION is {policy!r}, it must be one of {', '.join(_POLICIES)}")
        given = environment.get("REPRISE_ADMISSION_FREQUENCY", "").strip()
        if given and not (given.isascii() and given.isdigit()):
            raise HotnessSettingError(f"REPRISE_ADMISSION_FREQUENCY is {given!r}, it must be a whole number")
        if policy == "stock":
            return None
        return HotnessSettings(int(given) if given else DEFAULT_ADMISSION)
