"""What operators and requests ask of page selection, by the same names in every engine's plugin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reprise_settings.setting_place import SettingPlace

ASKED = "reprise_pages"
"""name of the wish among a request's own parameters"""
MALFORMED = "malformed"


class PageSettingError(ValueError):
    """An invalid setting; the message names it and says what is valid."""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Which requests have pages selected, and how."""

    min_ratio: float = 0.1
    """smallest share of its pages that a request may ask for"""
    selector: str = "attention-mass"
    """a name in `reprise_pages.selectors.SELECTORS`"""
    grids: float = 0.5
    """CHESS's share of grids to keep (rho_g)"""
    chunks: float = 0.5
    """CHESS's share of their chunks to keep (rho_c)"""
    least_tokens: int = 4096
    """shorter contexts stay dense: for them, reading less does not pay for choosing"""
    requests: int = 8
    """at most this many requests are sparse at once, each with room for summaries; further ones stay dense"""
    sinks: int = 1
    """first pages, always read"""
    recent: int = 2
    """last complete pages, always read"""
    every: int = 2
    """steps between choices"""

    def check(self, place: SettingPlace, *, least_every: int) -> None:
        """Raises `PageSettingError` if a value is invalid, or reprise-kernels is not installed."""
        for name in ("min_ratio", "grids", "chunks"):
            place.check_number(name, getattr(self, name), 0, 1)
        least = {"least_tokens": 1, "requests": 1, "sinks": 0, "recent": 1, "every": least_every}
        for name, at_least in least.items():
            place.check_whole(name, getattr(self, name), at_least)
        try:
            from reprise_pages.selectors import SELECTORS
        except ImportError as error:
            raise PageSettingError(f"{place.name} needs the package reprise-kernels: pip install ./kernels") from error
        place.check_choice("selector", self.selector, list(SELECTORS))


def asked_ratio(params: Any, min_ratio: float = 0) -> float | str | None:
    """
    Returns the share of its pages that a request wants to read, at least the operator's `min_ratio`.

    Returns None if it asks for nothing or for all pages: it is served as stock. Returns `MALFORMED` if the value is
    invalid: it is served as stock too.
    """
    given = params.get(ASKED) if isinstance(params, Mapping) else None
    if isinstance(given, str):
        try:
            given = float(given)
        except ValueError:
            return MALFORMED
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        return MALFORMED
    ratio = max(float(given), min_ratio)
    return None if ratio >= 1 else ratio
