"""The operator's settings for eviction and admission."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from reprise_hotness import DEFAULT_ADMISSION, POLICIES
from reprise_hotness.formula import ADMISSION_HOTNESS, EVICTION_PRIORITY, parse_formula
from reprise_hotness.tracker import MAX_AGE


class HotnessSettingError(ValueError):
    """A setting that cannot be used. The message names it and the allowed values."""


@dataclass(frozen=True, slots=True)
class HotnessSettings:
    """How to choose the prefixes that leave the GPU."""

    admission_frequency: int = DEFAULT_ADMISSION
    """an evicted prefix goes to the host if at least this many requests used it (HotPrefix §3.3.2); 0: always"""
    promotion_tokens: int = 0
    """limit on the tokens promoted from the host together (§3.4); 0: no promotion"""
    priority: str = EVICTION_PRIORITY
    """a formula: the lowest value is evicted first"""
    hotness: str = ADMISSION_HOTNESS
    """a formula: the highest value is worth a place on the host, and is promoted"""
    max_age: int = MAX_AGE
    """the clock of a prefix just used; clocks fall by one every 16 requests (§3.2.2)"""

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "HotnessSettings | None":
        """Returns None if SGLang's own policy stays. Raises `HotnessSettingError`."""
        policy = environment.get("REPRISE_EVICTION", "").strip() or "stock"
        if policy not in POLICIES:
            raise HotnessSettingError(f"REPRISE_EVICTION is {policy!r}, it must be one of {', '.join(POLICIES)}")
        settings = HotnessSettings(
            _read_count(environment, "REPRISE_ADMISSION_FREQUENCY", DEFAULT_ADMISSION),
            _read_count(environment, "REPRISE_PROMOTION_TOKENS", 0),
            _read_formula(environment, "REPRISE_EVICTION_PRIORITY", EVICTION_PRIORITY),
            _read_formula(environment, "REPRISE_HOTNESS", ADMISSION_HOTNESS),
            _read_count(environment, "REPRISE_MAX_AGE", MAX_AGE),
        )
        return None if policy == "stock" else settings


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
