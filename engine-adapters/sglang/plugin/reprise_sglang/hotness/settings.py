"""What the operator says of eviction and admission."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from reprise_sglang.hotness.formula import ADMISSION_HOTNESS, EVICTION_PRIORITY, parse_formula
from reprise_sglang.hotness.tracker import MAX_AGE, REQUESTS_PER_AGE

_POLICIES = ("stock", "hotprefix")
DEFAULT_ADMISSION = 10


class HotnessSettingError(ValueError):
    """A setting that cannot be used; says which, and what it may be."""


@dataclass(frozen=True, slots=True)
class HotnessSettings:
    """How prefixes are chosen that leave the GPU."""

    admission_frequency: int = DEFAULT_ADMISSION
    """what is evicted goes to the host from so many requests on (HotPrefix §3.3.2); 0: all of it does"""
    promotion_tokens: int = 0
    """of what is promoted from the host together (§3.4); 0: nothing is"""
    priority: str = EVICTION_PRIORITY
    """a formula: what is lowest is evicted first"""
    hotness: str = ADMISSION_HOTNESS
    """a formula: what is highest is worth a place on the host, and is promoted"""

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "HotnessSettings | None":
        """Returns None where SGLang's own policy stays; raises `HotnessSettingError`."""
        policy = environment.get("REPRISE_EVICTION", "").strip() or "stock"
        if policy not in _POLICIES:
            raise HotnessSettingError(f"REPRISE_EVICTION is {policy!r}, it must be one of {', '.join(_POLICIES)}")
        settings = HotnessSettings(
            _read_count(environment, "REPRISE_ADMISSION_FREQUENCY", DEFAULT_ADMISSION),
            _read_count(environment, "REPRISE_PROMOTION_TOKENS", 0),
            _read_formula(environment, "REPRISE_EVICTION_PRIORITY", EVICTION_PRIORITY),
            _read_formula(environment, "REPRISE_HOTNESS", ADMISSION_HOTNESS),
        )
        return None if policy == "stock" else settings

    def describe(self) -> dict[str, object]:
        """What snapshots say of it."""
        return {
            "policy": "hotprefix",
            "priority": self.priority,
            "max_age": MAX_AGE,
            "requests_per_age": REQUESTS_PER_AGE,
        }


def _read_count(environment: Mapping[str, str], name: str, default: int) -> int:
    given = environment.get(name, "").strip()
    if given and not (given.isascii() and given.isdigit()):
        raise HotnessSettingError(f"{name} is {given!r}, it must be a whole number")
    return int(given) if given else default


def _read_formula(environment: Mapping[str, str], name: str, default: str) -> str:
    given = environment.get(name, "").strip()
    try:
        parse_formula(given or default)
    except ValueError as error:
        raise HotnessSettingError(f"{name}: {error}") from None
    return given or default
