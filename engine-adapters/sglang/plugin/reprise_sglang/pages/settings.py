"""The operator's settings for page selection: `REPRISE_PAGES`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from reprise_settings import SettingPlace
from reprise_settings import page_settings as common
from reprise_settings.page_settings import PageSettingError

VARIABLE = "REPRISE_PAGES"
_PLACE = SettingPlace(VARIABLE, PageSettingError, '{"min_ratio": 0.1}', joint=": ")


@dataclass(frozen=True, slots=True)
class PageSettings(common.PageSettings):
    """Which requests get page selection, and how. A page is a run of `page` tokens, wherever the engine keeps them."""

    page: int = 32
    """tokens"""

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "PageSettings":
        """Returns the settings in `REPRISE_PAGES` (JSON), with defaults for the rest. Raises `PageSettingError`."""
        text = environment.get(VARIABLE, "").strip() or "{}"
        settings = _PLACE.read(PageSettings, _PLACE.parse(text), text)
        _PLACE.check_whole("page", settings.page, 1)
        settings.check(_PLACE, least_every=1)
        return settings
