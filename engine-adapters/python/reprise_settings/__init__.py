"""Reads an operator's settings from one place, and reports invalid ones by the names used in that place."""

from reprise_settings.setting_place import SettingPlace, hint_at
from reprise_settings.supported import NotSupportedError, refuse, say_tested

__all__ = ["NotSupportedError", "SettingPlace", "hint_at", "refuse", "say_tested"]
