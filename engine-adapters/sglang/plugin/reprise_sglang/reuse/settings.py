"""The operator's settings for reuse: `REPRISE_REUSE`, an object with the names of the vLLM plugin's `reuse`."""

import os
from collections.abc import Mapping

from reprise_settings import SettingPlace, reuse_settings
from reprise_settings.reuse_settings import ReuseSettingError, ReuseSettings

VARIABLE = "REPRISE_REUSE"


def read_settings(environment: Mapping[str, str] = os.environ) -> ReuseSettings | None:
    """Returns the settings, or None if reuse is off. Raises `ReuseSettingError` if one is invalid."""
    text = environment.get(VARIABLE, "").strip()
    given = SettingPlace(VARIABLE, ReuseSettingError, "").parse(text or "null")
    settings = reuse_settings.read_settings({reuse_settings.KEY: given})
    if settings is not None and settings.rows_per_step is not None:
        raise ReuseSettingError("reuse.rows_per_step is a setting of the vLLM plugin: in SGLang a load takes one step")
    return settings
