"""The operator's settings for reuse: `REPRISE_REUSE`, an object with the names of the vLLM plugin's `reuse`."""

import json
import os
from collections.abc import Mapping
from dataclasses import fields

from reprise_settings.reuse_settings import KEY, ReuseSettingError, ReuseSettings

VARIABLE = "REPRISE_REUSE"
_ONLY_VLLM = ("disk", "disk_bytes", "rows_per_step", "check")


def read_settings(environment: Mapping[str, str] = os.environ) -> ReuseSettings | None:
    """Returns the settings, or None if reuse is off. Raises `ReuseSettingError` if one is invalid."""
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ReuseSettingError(f"{VARIABLE} is no JSON: {error}") from error
    try:
        import reprise_reuse  # noqa: F401
    except ImportError as error:
        raise ReuseSettingError(f"{VARIABLE} needs the package reprise-kernels: pip install ./kernels") from error
    settings = ReuseSettings.read({KEY: given})
    defaults = {field.name: field.default for field in fields(ReuseSettings)}
    for name in _ONLY_VLLM:
        if settings is not None and getattr(settings, name) != defaults[name]:
            raise ReuseSettingError(f"reuse.{name} is a setting of the vLLM plugin, SGLang's has none of that name")
    return settings
