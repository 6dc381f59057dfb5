"""The operator's settings for page selection, and the ratio that a request asks for."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reprise_settings import SettingPlace

VARIABLE = "REPRISE_PAGES"
ASKED = "reprise_pages"
"""the name in a request's `custom_params`"""
SELECTORS = ("attention-mass", "quest", "chess")
_WHOLE = {"page": 1, "least_tokens": 1, "requests": 1, "sinks": 0, "recent": 1, "every": 1}


class PageSettingError(ValueError):
    """A setting that cannot be used. The message names it and the allowed values."""


_PLACE = SettingPlace(VARIABLE, PageSettingError, '{"min_ratio": 0.1}', joint=": ")


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Which requests get page selection, and how. A page is a run of `page` tokens, wherever the engine keeps them."""

    min_ratio: float = 0.1
    """the smallest share of its pages that a request may ask for"""
    selector: str = "attention-mass"
    grids: float = 0.5
    """CHESS's share of grids to keep (rho_g)"""
    chunks: float = 0.5
    """CHESS's share of their chunks to keep (rho_c)"""
    page: int = 32
    """tokens"""
    least_tokens: int = 4096
    """shorter contexts stay dense"""
    requests: int = 8
    """how many requests may be sparse at once"""
    sinks: int = 1
    """first pages, always read"""
    recent: int = 2
    """last complete pages, always read"""
    every: int = 2
    """steps between choices"""

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "PageSettings":
        """Returns the settings in `REPRISE_PAGES` (JSON), with defaults for the rest. Raises `PageSettingError`."""
        text = environment.get(VARIABLE, "").strip() or "{}"
        try:
            given = json.loads(text)
        except ValueError as error:
            raise PageSettingError(f"{VARIABLE} is no JSON: {error}") from error
        settings = _PLACE.read(PageSettings, given, text)
        settings._check()
        return settings

    def _check(self) -> None:
        for name in ("min_ratio", "grids", "chunks"):
            _PLACE.check_number(name, getattr(self, name), 0, 1)
        for name, least in _WHOLE.items():
            _PLACE.check_whole(name, getattr(self, name), least)
        if self.selector not in SELECTORS:
            raise PageSettingError(
                f"{_PLACE.path_of('selector')} is {self.selector!r}, it must be one of {', '.join(SELECTORS)}"
            )


def asked_ratio(params: Any) -> float | None:
    """Returns the share of its pages that a request asks for; None if it names none, all pages, or an invalid share."""
    given = params.get(ASKED) if isinstance(params, Mapping) else None
    if isinstance(given, str):
        try:
            given = float(given)
        except ValueError:
            return None
    return float(given) if _is_number(given) and 0 <= given < 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
