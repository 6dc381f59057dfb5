"""What a request asks for, in its `vllm_xargs`."""

import math
from collections.abc import Mapping
from typing import Any

from reprise_vllm.select_pages.wishes.settings import ASKED, PageSettings

MALFORMED = "malformed"


def asked_ratio(xargs: Mapping[str, Any] | None, settings: PageSettings) -> float | str | None:
    """
    Returns the share of its pages that a request wants to read, within the operator's bounds.

    Returns None if it asks for nothing or for all pages: it is served as stock. Returns `MALFORMED` if the value is
    invalid: it is served as stock too, and counted.
    """
    given = None if not xargs else xargs.get(ASKED)
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = float(given)
        except ValueError:
            return MALFORMED
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return MALFORMED
    if not 0 <= given <= 1:
        return MALFORMED
    ratio = max(float(given), settings.min_ratio)
    return None if ratio >= 1 else ratio
